"""The files of a release: what each of them holds, and how it is written."""
