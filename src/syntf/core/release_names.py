"""Names of the files of a release, for code that must not wait for the writers' libraries."""

CARD_FILE = "croissant.json"
"""The dataset card of a release."""

PROTOTYPES_FILE = "prototypes.csv"
"""The released prototypes of a release of the document unit."""

ROW_NUMBER = "document"
"""The column that numbers the documents, if no id column identifies them."""

COUNTS_SUFFIXES = (".npz", ".parquet", ".mtx", ".svmlight", ".jsonl", ".txt", ".csv")
"""The suffixes of a file of counts, one for each format."""
