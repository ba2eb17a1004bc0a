"""Optional packages: name the extra that installs what a part of syntf needs."""

from collections.abc import Iterator
from contextlib import contextmanager

from syntf.core.errors import SyntfError


class MissingPackage(SyntfError, ImportError):
    """A package is not installed that syntf needs for what was asked."""


@contextmanager
def needed_for(what: str, extra: str) -> Iterator[None]:
    """Say in one line how to install a package that an import inside this context lacks.

    >>> with needed_for("syntf sing", "music"):
    ...     import a_package_that_nobody_has
    Traceback (most recent call last):
    syntf.core.extras.MissingPackage: syntf sing needs a_package_that_nobody_has, which is not \
installed: install the extra 'music', for example by pip install '.[music]' in the clone
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_package(error, what, extra) from error


def missing_package(error: ModuleNotFoundError, what: str, extra: str) -> MissingPackage:
    """Return the error for a missing package, which names the extra that installs it."""
    return MissingPackage(
        f"{what} needs {package_of(error)}, which is not installed: install the extra '{extra}', "
        f"for example by pip install '.[{extra}]' in the clone"
    )


def package_of(error: ModuleNotFoundError) -> str:
    """Return the name of the package that is not installed."""
    return (error.name or "").partition(".")[0]
