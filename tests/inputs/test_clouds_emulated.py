"""Files at gs:// and az://, read by the real drivers from servers on loopback."""

import contextlib
import os
import shutil
import socket
import subprocess
import time

import pytest

from syntf.core.errors import SyntfError
from syntf.inputs.corpus import Corpus

# The drivers run threads and sockets of their own and leave them to the end of the process.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account that every copy of Azurite has: both are public and protect nothing."""


def texts(*inputs):
    return list(Corpus(inputs, "text", []).texts())


def check_bucket(scheme, system):
    """Read one file, several by a pattern, and none, at an address of this scheme."""
    for name in ("a1.csv", "a2.csv"):
        system.pipe_file(f"bucket/mails/{name}", f"text\n{name}\n".encode())
    assert texts(f"{scheme}://bucket/mails/a1.csv") == ["a1.csv"]
    assert texts(f"{scheme}://bucket/mails/*.csv") == ["a1.csv", "a2.csv"]
    with pytest.raises(SyntfError, match=f"no file at {scheme}://bucket/mails/b"):
        texts(f"{scheme}://bucket/mails/b.csv")


def test_google_cloud_storage_is_read(monkeypatch):
    gcsfs = pytest.importorskip("gcsfs", reason="pip install 'syntf[cloud]'")
    emulator = pytest.importorskip(
        "gcp_storage_emulator.server", reason="pip install gcp-storage-emulator"
    )
    server = emulator.create_server("127.0.0.1", 0, in_memory=True, default_bucket="bucket")
    server.start()
    try:
        host, port = server._api._httpd.server_address[:2]
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://{host}:{port}")
        gcsfs.GCSFileSystem.clear_instance_cache()
        check_bucket("gs", gcsfs.GCSFileSystem())
    finally:
        gcsfs.GCSFileSystem.clear_instance_cache()
        server.stop()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_azure_blob_storage_is_read(monkeypatch, tmp_path):
    adlfs = pytest.importorskip("adlfs", reason="pip install 'syntf[cloud]'")
    program = os.environ.get("SYNTF_AZURITE") or shutil.which("azurite-blob")
    if program is None:
        pytest.skip("needs Azurite: npm install --global azurite, or SYNTF_AZURITE=<azurite-blob>")
    port = free_port()
    server = subprocess.Popen(
        [program, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(tmp_path),
         "--silent", "--skipApiVersionCheck"],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
        connection = f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
        monkeypatch.setenv(
            "AZURE_STORAGE_CONNECTION_STRING", f"{connection}BlobEndpoint={endpoint};"
        )
        adlfs.AzureBlobFileSystem.clear_instance_cache()
        system = adlfs.AzureBlobFileSystem()
        system.mkdir("bucket")
        check_bucket("az", system)
    finally:
        adlfs.AzureBlobFileSystem.clear_instance_cache()
        server.terminate()
        server.wait()
