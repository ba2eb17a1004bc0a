"""Word vectors as int8: the embedded table, files in several formats, objects of other
libraries."""
