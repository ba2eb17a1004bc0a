"""Input and output words: the embedded list, files, and lists fitted on texts."""
