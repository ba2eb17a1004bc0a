"""The one exception meant for people: a sentence that says what is wrong and what to do."""


class SyntfError(ValueError):
    """Bad input or parameters. The command line prints it as one line and exits with 2."""


class TableError(RuntimeError):
    """A row of the mechanism is not the row that was accounted for: nothing is drawn from it."""
