"""Say in one line why Spark failed, and what to do: no text of a document is quoted."""

import re
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from os import environ
from urllib.parse import urlsplit

from syntf.core.errors import SyntfError

CONNECT_SECONDS = 5.0
"""How long to wait for an answer of a master."""

MASTERS = re.compile(r"local(\[(\d+|\*)(,\s*\d+)?\])?|spark://[^/]+|yarn|k8s://.+")
"""The kinds of cluster that Spark can be told to use."""

JARS = {
    "s3a": "org.apache.hadoop:hadoop-aws", "abfs": "org.apache.hadoop:hadoop-azure",
    "abfss": "org.apache.hadoop:hadoop-azure", "wasbs": "org.apache.hadoop:hadoop-azure",
    "gs": "com.google.cloud.bigdataoss:gcs-connector",
}  # fmt: skip
"""The package of Maven that each kind of address needs."""

_SCHEMES = {
    "S3AFileSystem": "s3a", "GoogleHadoopFileSystem": "gs", "AzureBlobFileSystem": "abfs",
    "SecureAzureBlobFileSystem": "abfss", "NativeAzureFileSystem": "wasbs",
}  # fmt: skip
_NO_CLASS = re.compile(r"Class \S*\.(\w+) not found")
_S3 = 'No FileSystem for scheme "s3"'
_KNOWN = {
    "No FileSystem for scheme": "Spark has no file system for such an address: check how it begins",
    "java.net.UnknownHostException": "there is no such host: check the addresses",
    "failed on connection exception": "nothing answers at the address: check host and port",
    "ModuleNotFoundError: No module named": (
        "the Python of the executors lacks a module: install syntf there, in the same version and "
        "with what it needs, or name another Python in PYSPARK_PYTHON"
    ),
}
"""What is wrong, by what an error of Spark contains. Nothing of the error itself is quoted."""

ADVICE = {
    "JAVA_GATEWAY_EXITED": "Java did not start: check that it is version 17, and JAVA_HOME",
    "PATH_NOT_FOUND": "one of the inputs does not exist",
    "Py4JJavaError": (
        "check that the cluster runs, --out can be written and the files are complete; without "
        "--engine spark, syntf names the line of a broken row"
    ),
}
"""What to check when Spark fails, by the name of its error."""


def check_master(master: str) -> None:
    """Raise a SyntfError if Spark cannot be reached at this address, within seconds.

    Spark itself would try for more than a minute, and then not name the address.
    """
    if master.startswith("sc://"):
        raise SyntfError(
            f"--master {master}: the command cannot write a release through Spark Connect; call "
            "syntf.spark.anonymize with your session, or name the cluster (spark://host:7077)"
        )
    if not MASTERS.fullmatch(master):
        raise SyntfError(
            f"--master {master}: no such kind of cluster; use local[*], spark://host:7077, yarn "
            "or k8s://https://host:443"
        )
    if not (environ.get("JAVA_HOME") or shutil.which("java")):
        raise SyntfError("Spark needs Java 17, which is not installed: install it or set JAVA_HOME")
    if master.startswith("spark://"):
        hosts = master.removeprefix("spark://").split(",")
        if not any(map(_answers, hosts)):
            raise SyntfError(
                f"--master {master}: no Spark master answers there; start it, or correct the "
                "address (the web page of the master shows it)"
            )


def check_frame(frame: object) -> None:
    """Raise a SyntfError if this is not a DataFrame of Spark."""
    kind = type(frame)
    if kind.__module__.split(".")[0] == "pyspark" and hasattr(kind, "isStreaming"):
        return
    name = f"{kind.__module__.split('.')[0]}.{kind.__name__}"
    make = "make one with spark.createDataFrame"
    if kind.__module__.startswith("pyspark.pandas"):
        name, make = f"pyspark.pandas.{kind.__name__}", "make one with frame.to_spark()"
    raise SyntfError(
        f"syntf.spark.anonymize takes a DataFrame of Spark, not {name}: {make}, or use "
        "syntf.SynTF, which needs no Spark"
    )


def cause(message: str) -> str | None:
    """Return what is wrong and what to do, if an error of Spark tells; quote nothing of it.

    >>> cause("java.net.UnknownHostException: no.such.host")
    'there is no such host: check the addresses'
    """
    if (found := _NO_CLASS.search(message)) and found[1] in _SCHEMES:
        scheme = _SCHEMES[found[1]]
        return (
            f"{scheme}:// needs {JARS[scheme]}, which this Spark does not have: add it to "
            "spark.jars.packages in spark-defaults.conf, in the version of Spark's own Hadoop"
        )
    if _S3 in message:
        return "Spark has no file system for s3://: write s3a://, which needs hadoop-aws"
    for sign, line in _KNOWN.items():
        if sign in message:
            return line
    return None


@contextmanager
def named_causes() -> Iterator[None]:
    """Replace an error of Spark by one line, if its cause is known; let others pass."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        if (known := cause(str(error))) is None:
            raise
        raise with_notes(SyntfError(known), error) from None


@contextmanager
def plain_errors() -> Iterator[None]:
    """Replace every error of Spark by one line that does not quote any text."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        kind = _condition(error) or type(error).__name__
        advice = ADVICE.get(kind, "check that the cluster and the files are there and complete")
        line = cause(str(error)) or f"Spark failed ({kind}): {advice}"
        raise with_notes(SyntfError(line), error) from None


def _condition(error: Exception) -> str | None:
    """Return the name that Spark gives to an error; PySpark 3.5 has it under another method."""
    for method in ("getCondition", "getErrorClass"):
        if hasattr(error, method):
            return getattr(error, method)() or None
    return None


def with_notes(plain: SyntfError, error: Exception) -> SyntfError:
    """Return an error with the notes of the one that it replaces."""
    for note in getattr(error, "__notes__", ()):  # such as a charge to the ledger
        plain.add_note(note)
    return plain


def _answers(host: str) -> bool:
    """Tell whether a program listens at ``host:port``."""
    try:
        address = urlsplit(f"//{host}")
        socket.create_connection(
            (address.hostname or "", address.port or 7077), CONNECT_SECONDS
        ).close()
    except (OSError, ValueError):
        return False
    return True
