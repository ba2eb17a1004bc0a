"""Texts come from lists, columns and tables with one column; other tables are refused."""

import numpy as np
import polars as pl
import pytest

from syntf import SynTF
from syntf.inputs.sequences import as_texts

TEXTS = ["A cat.", "", "Two dogs."]


def pandas_frame():
    pandas = pytest.importorskip("pandas", reason="needs pandas: pip install pandas")
    return pandas.DataFrame({"text": ["A cat.", None, "Two dogs."]})


def arrow_table():
    arrow = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install pyarrow")
    return arrow.table({"text": ["A cat.", None, "Two dogs."]})


POLARS = pl.DataFrame({"text": ["A cat.", None, "Two dogs."]})
COLUMNS = {
    "list": lambda: TEXTS,
    "generator": lambda: iter(TEXTS),
    "array": lambda: np.array(TEXTS),
    "array of one column": lambda: np.array(TEXTS, dtype=object)[:, None],
    "polars column": lambda: POLARS["text"],
    "polars frame": lambda: POLARS,
    "pandas column": lambda: pandas_frame()["text"],
    "pandas frame": pandas_frame,
    "pandas frame of a list": lambda: pandas_frame()[["text"]],
    "Arrow table": arrow_table,
    "Arrow column": lambda: arrow_table()["text"],
    "Arrow array": lambda: arrow_table()["text"].combine_chunks(),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_one_column_gives_its_texts(kind):
    assert as_texts(COLUMNS[kind]()) == TEXTS


TABLES = {
    "polars": lambda: POLARS.with_columns(topic=pl.lit("pets")),
    "pandas": lambda: pandas_frame().assign(topic="pets"),
    "pandas without columns": lambda: pandas_frame()[[]],
    "Arrow": lambda: arrow_table().append_column("topic", [["a", "b", "c"]]),
    "array": lambda: np.array([TEXTS, TEXTS]),
    "three dimensions": lambda: np.array(TEXTS)[:, None, None],
    "lazy frame": lambda: POLARS.lazy(),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.filterwarnings("ignore::polars.exceptions.PerformanceWarning")
def test_other_tables_are_refused(kind):
    with pytest.raises((ValueError, TypeError)):
        as_texts(TABLES[kind]())


def test_estimator_and_column_transformer_read_one_column():
    from sklearn.compose import ColumnTransformer

    frame = pandas_frame().assign(topic="pets")
    synthetic = SynTF(preset="document")
    assert synthetic.fit_transform(frame[["text"]]).shape[0] == 3
    with pytest.raises(ValueError, match="got a table with 2 columns"):
        synthetic.fit_transform(frame)
    for column in ("text", ["text"]):
        columns = ColumnTransformer([("words", SynTF(preset="document"), column)])
        assert columns.fit_transform(frame).shape[0] == 3


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_data_frames_as_output_are_refused_with_the_alternative(kind):
    with pytest.raises(ValueError, match="from_spmatrix"):
        SynTF().set_output(transform=kind)
    assert SynTF().set_output(transform="default").set_output() is not None
