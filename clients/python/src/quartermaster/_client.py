"""Access to one account of the service."""

from __future__ import annotations

import ssl
from typing import Optional

from . import _limits as limits
from ._cache import Cache
from ._manage import Manage
from ._resource import Resource
from ._sender import Sender
from ._wire import DECIMALS, PATHS, Company, Partner, Product


class Quartermaster:
    """
    Access to one account, with one of its API keys. Any number of threads can share it. Connections are kept open; use it in a `with`
    statement, or call `close()`, to close them.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float = limits.ATTEMPT_SECONDS,
        retry_for: float = limits.RETRY_SECONDS,
        cache: Optional[Cache] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        """
        `base_url`: the URL of the account's host, such as `https://acme.example.com`.
        `timeout`: seconds of each attempt, including reading the response.
        `retry_for`: how many seconds a request is retried; 0 disables retries.
        `cache`: caches responses of `list` and `get` by ETag, such as `MemoryCache()`.
        `ssl_context`: for a certificate authority of your own. By default the system's are trusted.
        """
        sender = Sender(base_url, api_key, timeout=timeout, retry_for=retry_for, cache=cache, ssl_context=ssl_context)
        self._sender = sender
        self.products: Resource[Product] = Resource(sender, PATHS["product"], DECIMALS["product"])
        #: Customers, vendors and employees.
        self.partners: Resource[Partner] = Resource(sender, PATHS["partner"], DECIMALS["partner"])
        self.companies: Resource[Company] = Resource(sender, PATHS["company"], DECIMALS["company"])
        #: Keys, webhooks, usage, and logs of the account. Needs a key with the scope `account:manage`.
        self.manage = Manage(sender)

    def __enter__(self) -> Quartermaster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Quartermaster({self._sender.base_url!r})"

    def close(self) -> None:
        """Closes idle connections. A later call opens a new one."""
        self._sender.close()
