"""Render ``report.html`` and ``README.txt`` from templates.

The templates hold all wording. :func:`template_digest` names a wording, so that ``syntf verify``
knows whether it has the templates that a release was written with.
"""

import json
import textwrap
import threading
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from syntf.core.exact import shown
from syntf.privacy.guarantee import AUTHORS, CAVEATS, Guarantee
from syntf.report.document_summary import DocumentSummary
from syntf.report.figures import PAPER, PUBLISHED, Sparsity, document_figures, figures
from syntf.report.table_summary import TableSummary

if TYPE_CHECKING:
    from jinja2 import Environment

    from syntf.report.evaluation import EvaluationScores

REPORT_FILE = "report.html"
"""The name of the report in a release."""

TEMPLATES = (
    "README.txt", "document_readme.txt", "card.txt", "loading.txt", "macros.html", "measured.html",
    "report.css", "report.html", "document.html", "verdict.html", "about.html", "compared.html",
    "tasks.html",
)  # fmt: skip

COMPILED_FILE = "compiled.json"
"""The Python code of the templates, for a faster start (see decision 18)."""


def render_report(
    guarantee: Guarantee,
    table: TableSummary | DocumentSummary,
    sparsity: Sparsity | None = None,
    evaluation: "EvaluationScores | None" = None,
) -> str:
    """Return ``report.html``.

    sparsity : of the released counts; None for a report on settings without a release.
    evaluation : scores for the owner of the texts; never part of a release.
    """
    verdict = None
    if evaluation is not None:
        from syntf.report.verdict import judge

        verdict = judge(evaluation, guarantee.loss_per_document if guarantee.private else None)
    if isinstance(table, DocumentSummary):
        return render(
            "document.html",
            guarantee=guarantee,
            figures=document_figures(guarantee, table, sparsity),
            published=PUBLISHED,
            evaluation=evaluation,
            verdict=verdict,
        )
    return render(
        "report.html",
        guarantee=guarantee,
        figures=figures(guarantee, table, sparsity),
        paper=PAPER,
        published=PUBLISHED,
        evaluation=evaluation,
        verdict=verdict,
    )


def render(name: str, **context: Any) -> str:
    """Return a template filled with values."""
    return _environment().get_template(name).render(context)


def load_ahead() -> None:
    """Load the templates on another thread, while texts are read without Python.

    If this fails, for instance for lack of memory, :func:`render` tries again and raises the error.
    """

    def load() -> None:
        with suppress(Exception):
            _environment()

    with suppress(RuntimeError):  # no further thread can be started
        threading.Thread(target=load, daemon=True).start()


@cache
def template_digest() -> str:
    """Return the SHA-256 of all wording: the templates, and the sentences of the guarantee."""
    digest = sha256("\n".join([*CAVEATS.values(), *AUTHORS.values()]).encode())
    for name in TEMPLATES:
        digest.update(_source(name).encode())
    return f"sha256:{digest.hexdigest()}"


def compile_templates() -> str:
    """Return the contents of :data:`COMPILED_FILE`."""
    environment = _environment()
    code = {name: environment.compile(_source(name), name, name, raw=True) for name in TEMPLATES}
    record = {"jinja2": _code_version(), "digest": template_digest(), "code": code}
    return json.dumps(record, indent=0) + "\n"


def _source(name: str) -> str:
    return files("syntf.report").joinpath("templates", name).read_text(encoding="utf-8")


def _code_version() -> int:
    """Return the version of the code that the installed jinja2 generates."""
    from jinja2.bccache import bc_version

    return bc_version


@cache
def _environment() -> "Environment":
    """Return the environment of the templates; importing jinja2 takes some milliseconds."""
    from jinja2 import BaseLoader, Environment, StrictUndefined, Template, select_autoescape

    try:
        compiled = json.loads(_source(COMPILED_FILE))
    except (OSError, ValueError):
        compiled = {}
    fresh = (compiled.get("jinja2"), compiled.get("digest")) == (_code_version(), template_digest())

    class Loader(BaseLoader):
        def load(self, environment: Environment, name: str, globals: Any = None) -> Template:
            if fresh:
                code = compile(compiled["code"][name], name, "exec")
            else:
                code = environment.compile(_source(name), name, name)
            return environment.template_class.from_code(environment, code, globals or {})

    environment = Environment(
        loader=Loader(),
        autoescape=select_autoescape(["html"], default=False),
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["shown"] = shown
    environment.filters["wrapped"] = _wrapped
    return environment


def _printable(value: Any) -> Any:
    """Replace characters that cannot be printed; templates pass every value through this.

    >>> _printable("a\\x1b[2J"), _printable(3)
    ('a?[2J', 3)
    """
    if type(value) is not str or value.isprintable():  # numbers, Markup that a template made
        return value
    return "".join(letter if letter.isprintable() else "?" for letter in value)


def _wrapped(text: str, start: str) -> str:
    """Break a text into lines of at most 84 characters, the first of which begins with `start`."""
    from markupsafe import Markup  # a type that _printable leaves alone, line breaks included

    indent = " " * len(start)
    lines = textwrap.fill(_printable(text), 84, initial_indent=start, subsequent_indent=indent)
    # README.txt is not HTML.
    return Markup(lines)  # nosec B704
