"""The one exception meant for people: a sentence that says what is wrong and what to do."""


class SyntfError(ValueError):
    """Bad input or parameters. The command line prints it as one line and exits with 2."""


class BudgetError(SyntfError):
    """A ledger that is whole refuses a run: nothing was spent, and nothing may be drawn."""


class TableError(RuntimeError):
    """A row of the mechanism is not the row that was accounted for: nothing is drawn from it."""
