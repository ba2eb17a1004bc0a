"""Who may reach the service, and what it then takes."""

import pytest

from syntf.cli.serve import _token
from syntf.core.errors import SyntfError
from syntf.serve.config import Config, is_loopback

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "10.0.0.1", "lan.example", ""])
def test_beyond_loopback_it_does_not_start_without_a_token(host):
    assert not is_loopback(host)
    with pytest.raises(SyntfError, match="token"):
        Config(host=host)
    assert not Config(host=host, token=TOKEN).shows_page


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", "LOCALHOST"])
def test_loopback_takes_no_token(host):
    assert Config(host=host).shows_page
    assert not Config(host=host, page=False).shows_page
    assert host.lower() in Config(host=host).known_names


def test_a_further_name_takes_a_token_too():
    with pytest.raises(SyntfError, match="token"):
        Config(names=frozenset({"texts.example"}))
    assert "texts.example" in Config(names=frozenset({"texts.example"}), token=TOKEN).known_names


@pytest.mark.parametrize("token", ["", "short", "0123456789abcde", "0123456789abcdef\n", "é" * 20])
def test_weak_or_unsendable_tokens_are_refused(token):
    with pytest.raises(SyntfError, match="16 printable ASCII"):
        Config(token=token)


def test_with_a_token_there_is_no_page_even_on_loopback():
    assert not Config(token=TOKEN).shows_page


def test_beyond_loopback_names_are_checked_only_if_given():
    assert Config(host="0.0.0.0", token=TOKEN).known_names is None
    named = Config(host="0.0.0.0", token=TOKEN, names=frozenset({"texts.example"}))
    assert named.known_names == {"texts.example"}


def test_an_empty_token_is_no_token_and_not_none(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTF_TOKEN", "  ")
    (tmp_path / "token").write_text("\n")
    for found in (_token(None), _token(tmp_path / "token")):
        with pytest.raises(SyntfError, match="token"):
            Config(token=found)
    monkeypatch.delenv("SYNTF_TOKEN")
    assert _token(None) is None
