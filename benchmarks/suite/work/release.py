"""Make a release with syntf in Python: from texts in memory to files, with a filled cache."""

from collections.abc import Callable
from pathlib import Path

from suite.work.texts import read_texts
from syntf.core import tables
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.releases import draft
from syntf.releases.contents.folder import row_numbers
from syntf.releases.contents.writers import ROW_NUMBER
from syntf.report.table_summary import summarize_table


def prepare(preset: str, path: str, out: str) -> Callable[[], None]:
    texts = read_texts(path)

    def once() -> None:
        anonymizer = Anonymizer.build(Settings.from_preset(preset))
        counts = anonymizer.anonymize(texts)
        draft.write(
            Path(out),
            counts,
            anonymizer.vocabulary.outputs,
            tables.of({ROW_NUMBER: row_numbers(0, len(texts))}),
            anonymizer.guarantee(),
            summarize_table(
                anonymizer.mechanism,
                anonymizer.vocabulary,
                length=anonymizer.settings.length,
            ),
            force=True,
        )

    return once
