"""Configuration of the service: where it listens, who may use it, and its limits."""

from dataclasses import dataclass
from ipaddress import ip_address

from syntf.core.errors import SyntfError

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
"""Host names under which a browser on this machine reaches the service."""

MIN_TOKEN_LENGTH = 16


@dataclass(frozen=True, kw_only=True)
class Config:
    """Settings of the HTTP service that do not affect what it draws.

    Parameters
    ----------
    host, port : address to listen on; port 0 selects a free port.
    token : clients must send it as ``Authorization: Bearer TOKEN``. Optional only on loopback.
    allowed_hosts : more host names that requests may be addressed to, such as that of a
        reverse proxy. Other machines can then reach the service, so a token is required.
    page : serve the demonstration page where that is allowed (see `shows_page`).
    max_body : largest request, in bytes.
    max_documents : largest number of documents in one request.
    rate : requests per second accepted from one address, and the size of a burst.

    Raises
    ------
    SyntfError : other machines could reach the service and there is no token, or the token is
        too short.

    Examples
    --------
    >>> Config().shows_page
    True
    >>> Config(host="0.0.0.0")
    Traceback (most recent call last):
    ...
    syntf.core.errors.SyntfError: other machines can reach 0.0.0.0, so the service needs a token: \
set SYNTF_TOKEN or pass --token-file
    """

    host: str = "127.0.0.1"
    port: int = 8470
    token: str | None = None
    allowed_hosts: frozenset[str] = frozenset()
    page: bool = True
    max_body: int = 1 << 20
    max_documents: int = 1000
    rate: float = 100.0

    def __post_init__(self) -> None:
        if self.token is None and (self.allowed_hosts or not is_loopback(self.host)):
            reached = "the service under --allow-host" if self.allowed_hosts else self.host
            raise SyntfError(
                f"other machines can reach {reached}, so the service needs a token: "
                "set SYNTF_TOKEN or pass --token-file"
            )
        if self.token is not None and not (
            len(self.token) >= MIN_TOKEN_LENGTH
            and self.token.isascii()
            and self.token.isprintable()
        ):
            raise SyntfError(
                f"the token must have at least {MIN_TOKEN_LENGTH} printable ASCII characters: "
                "create one with `openssl rand -hex 32`"
            )

    @property
    def shows_page(self) -> bool:
        """Whether the page may be served: only without a token, because it shows inner draws."""
        return self.page and self.token is None

    @property
    def host_names(self) -> frozenset[str] | None:
        """Host names that requests may be addressed to.

        None if every name is accepted: beyond loopback the token protects the service.
        """
        if not is_loopback(self.host):
            return self.allowed_hosts or None
        return LOOPBACK_NAMES | self.allowed_hosts | {self.host.lower()}


def is_loopback(host: str) -> bool:
    """Return whether only programs on this machine can connect to an address.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "lan.example")]
    [True, True, True, False, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
