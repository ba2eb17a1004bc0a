"""Where the service listens, whom it lets in and how much it takes."""

from dataclasses import dataclass
from ipaddress import ip_address

from syntf.core.errors import SyntfError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""The names under which a browser on this machine reaches it."""

SHORTEST_TOKEN = 16


@dataclass(frozen=True, kw_only=True)
class Config:
    """What can be chosen of the service, whatever it draws.

    Parameters
    ----------
    host, port : where to listen; port 0 takes a free one.
    token : what a client must send as ``Authorization: Bearer …``. Optional on loopback alone.
    names : further names that requests may be addressed to, as by a reverse proxy. Whoever
        gives one lets others in, so it takes a token.
    page : show the page, where that is possible at all: see `shows_page`.
    max_body : the most bytes of a request.
    max_documents : the most documents of a request.
    rate : requests a second from one address, and as many at once.

    Examples
    --------
    >>> Config().shows_page
    True
    >>> Config(host="0.0.0.0")
    Traceback (most recent call last):
    ...
    syntf.core.errors.SyntfError: 0.0.0.0 can be reached from other machines, so a token is \
needed: \
set SYNTF_TOKEN, or give --token-file
    """

    host: str = "127.0.0.1"
    port: int = 8470
    token: str | None = None
    names: frozenset[str] = frozenset()
    page: bool = True
    max_body: int = 1 << 20
    max_documents: int = 1000
    rate: float = 100.0

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            raise SyntfError(
                f"{self.host} can be reached from other machines, so a token is needed: "
                "set SYNTF_TOKEN, or give --token-file"
            )
        if self.token is None and self.names:
            raise SyntfError(
                "with a further host name others can reach the service, so a token is needed: "
                "set SYNTF_TOKEN, or give --token-file"
            )
        if self.token is not None and not (
            len(self.token) >= SHORTEST_TOKEN and self.token.isascii() and self.token.isprintable()
        ):
            raise SyntfError(
                f"a token must be {SHORTEST_TOKEN} printable ASCII characters or more, such as "
                "`openssl rand -hex 32` prints"
            )

    @property
    def shows_page(self) -> bool:
        """Only on loopback and without a token: the page shows what a release must not."""
        return self.page and self.token is None

    @property
    def known_names(self) -> frozenset[str] | None:
        """The names that requests may be addressed to; None beyond loopback: a token decides."""
        if not is_loopback(self.host):
            return self.names or None
        return LOOPBACK | self.names | {self.host.lower()}


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can connect to an address.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "lan.example")]
    [True, True, True, False, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
