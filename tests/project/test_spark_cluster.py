"""The control groups of tools/spark_cluster.py: a worker gets its share of a core, not more."""

import os
import subprocess
import sys

import pytest
import spark_cluster

BUSY = """
import sys, time
sys.stdin.readline()
began = time.monotonic()
while time.monotonic() < began + 1:
    pass
print(time.process_time())
"""


def test_without_control_groups_the_message_says_what_is_needed(monkeypatch, tmp_path):
    monkeypatch.setattr(spark_cluster, "CGROUPS", tmp_path / "cpu")
    with (
        pytest.raises(RuntimeError, match=r"limit a worker to 0\.5 of a core .* control groups"),
        spark_cluster.limited_group(0.5),
    ):
        pytest.fail("a group was made")


def test_groups_that_a_killed_process_left_are_removed(monkeypatch, tmp_path):
    monkeypatch.setattr(spark_cluster, "CGROUPS", tmp_path)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f"syntf-{ended.pid}-1"
    running = tmp_path / f"syntf-{os.getpid()}-1"
    used = tmp_path / f"syntf-{ended.pid}-2"
    for group in (left, running, used, tmp_path / "others"):
        group.mkdir()
    (used / "a").mkdir()  # the kernel refuses to remove a group with processes
    spark_cluster.remove_left_groups()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["others", running.name, used.name]
    )


def test_processes_of_a_group_use_their_share_of_a_core():
    try:
        with spark_cluster.limited_group(0.25) as group:
            process = subprocess.Popen(
                [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            group.write_text(str(process.pid))
            used, _ = process.communicate(b"\n")
    except RuntimeError as error:
        pytest.skip(str(error))
    assert 0 < float(used) < 0.6  # of one second, with the start of Python
    assert not group.parent.exists()
