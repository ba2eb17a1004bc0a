"""Which configurations need a token, and which show the page."""

import pytest

from syntf.cli.commands.serve import read_token
from syntf.core.errors import SyntfError
from syntf.serve.config import Config, is_loopback

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "10.0.0.1", "lan.example", ""])
def test_other_addresses_need_aread_token(host):
    assert not is_loopback(host)
    with pytest.raises(SyntfError, match="token"):
        Config(host=host)
    assert not Config(host=host, token=TOKEN).shows_page


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", "LOCALHOST"])
def test_loopback_needs_noread_token(host):
    assert Config(host=host).shows_page
    assert not Config(host=host, page=False).shows_page
    assert host.lower() in Config(host=host).host_names


def test_an_allowed_host_needs_aread_token():
    with pytest.raises(SyntfError, match="token"):
        Config(allowed_hosts=frozenset({"texts.example"}))
    assert (
        "texts.example"
        in Config(allowed_hosts=frozenset({"texts.example"}), token=TOKEN).host_names
    )


@pytest.mark.parametrize("token", ["", "short", "0123456789abcde", "0123456789abcdef\n", "é" * 20])
def test_short_or_unprintable_tokens_are_refused(token):
    with pytest.raises(SyntfError, match="16 printable ASCII"):
        Config(token=token)


def test_the_page_is_off_with_aread_token():
    assert not Config(token=TOKEN).shows_page


def test_beyond_loopback_host_names_are_checked_only_if_given():
    assert Config(host="0.0.0.0", token=TOKEN).host_names is None
    named = Config(host="0.0.0.0", token=TOKEN, allowed_hosts=frozenset({"texts.example"}))
    assert named.host_names == {"texts.example"}


def test_an_empty_token_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTF_TOKEN", "  ")
    (tmp_path / "token").write_text("\n")
    for found in (read_token(None), read_token(tmp_path / "token")):
        with pytest.raises(SyntfError, match="token"):
            Config(token=found)
    monkeypatch.delenv("SYNTF_TOKEN")
    assert read_token(None) is None
