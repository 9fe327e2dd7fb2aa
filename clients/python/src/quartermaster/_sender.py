"""Sends every request: headers, timeouts, retries, errors and the response cache."""

from __future__ import annotations

import http.client
import platform
import re
import socket
import ssl
import time
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, Callable, Dict, Mapping, Optional, TypeVar
from urllib.parse import quote, urlsplit

from . import _limits as limits
from ._backoff import Stopped, backoff_seconds, pause, retry_after_of
from ._cache import Cache, CacheEntry
from ._errors import (
    ApiError,
    ConnectionFailed,
    IdempotencyConflict,
    QuartermasterError,
    QueryTooSlow,
    RateLimited,
    TimedOut,
    Unavailable,
    UnexpectedResponse,
    error_class,
    error_of_problem,
)
from ._json import loads
from ._transport import Exchange, Transport, why
from ._version import __version__

T = TypeVar("T")

JSON = "application/json"
NDJSON = "application/x-ndjson"


@dataclass(frozen=True)
class Call:
    """A request before the API key, retries and the cache are applied."""

    method: str
    #: Path and query string.
    path: str
    headers: Mapping[str, str] = field(default_factory=lambda: {"accept": JSON})
    body: Optional[bytes] = None
    #: The decoded parameters: an error message shows the wrong part of one.
    parameters: Mapping[str, str] = field(default_factory=dict)
    timeout: Optional[float] = None
    cached: bool = False
    #: A write without an Idempotency-Key, which does something else the second time.
    once_only: bool = False
    #: How long the service may wait before it responds, in addition to the timeout.
    wait: float = 0.0
    stop: Optional[Event] = None


@dataclass(frozen=True)
class Reply:
    body: bytes
    etag: Optional[str]
    request_id: Optional[str]

    def json(self) -> Any:
        try:
            return loads(self.body)
        except ValueError as cause:
            message = "The response is not JSON, so it is not from Quartermaster. Check base_url."
            raise UnexpectedResponse(message, code="response_unexpected", status=200, request_id=self.request_id) from cause


def list_call(
    path: str,
    parameters: Mapping[str, object],
    *,
    accept: str = JSON,
    timeout: Optional[float] = None,
    stop: Optional[Event] = None,
) -> Call:
    """A list as GET; if that URL would be too long, as QUERY with the same parameters in the body."""
    present = {name: str(value) for name, value in parameters.items() if value is not None}
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in present.items())
    url = f"{path}?{query}" if query else path
    if len(url) <= limits.URL_BYTES_MAX:
        return Call("GET", url, {"accept": accept}, parameters=present, timeout=timeout, stop=stop)
    headers = {"accept": accept, "content-type": "application/x-www-form-urlencoded"}
    return Call("QUERY", path, headers, query.encode(), parameters=present, timeout=timeout, stop=stop)


class Sender:
    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float,
        retry_for: float,
        cache: Optional[Cache],
        ssl_context: Optional[ssl.SSLContext],
    ) -> None:
        self.base_url = _normalized(base_url)
        self._authorization = f"Bearer {_checked_key(api_key)}"
        self._timeout = timeout
        self._retry_for = retry_for
        self._cache = cache
        url = urlsplit(self.base_url)
        self._prefix = url.path
        self._transport = Transport(url, ssl_context)

    def close(self) -> None:
        self._transport.close()

    def send(self, call: Call) -> Reply:
        """Sends a request and reads the complete response."""
        cache = self._cache if call.cached else None
        if cache is None:
            return self.read(call, _reply)
        key = f"{call.method} {self.base_url}{call.path} {(call.body or b'').decode()}"
        known = cache.get(key)
        if known is not None:
            call = replace(call, headers={**call.headers, "if-none-match": known.etag})

        def read(exchange: Exchange) -> Reply:
            reply = _reply(exchange)
            return replace(reply, body=known.body) if exchange.status == 304 and known is not None else reply

        reply = self.read(call, read)
        if reply.etag is not None and (known is None or reply.etag != known.etag):
            cache.set(key, CacheEntry(reply.etag, reply.body))
        return reply

    def read(self, call: Call, read: Callable[[Exchange], T]) -> T:
        """Sends a request and reads the response with `read`, whose errors are retried as well."""
        until = time.monotonic() + self._retry_for
        attempts = 0
        while True:
            attempts += 1
            if call.stop is not None and call.stop.is_set():
                raise Stopped
            try:
                return self._attempt(call, read)
            except QuartermasterError as error:
                seconds = backoff_seconds(attempts, (error.retry_after or 0.0) if isinstance(error, ApiError) else 0.0)
                if not _should_retry(error, call) or time.monotonic() + seconds > until:
                    raise
            pause(seconds, call.stop)

    def timeout_of(self, call: Call) -> float:
        return (self._timeout if call.timeout is None else call.timeout) + call.wait

    def _attempt(self, call: Call, read: Callable[[Exchange], T]) -> T:
        headers: Dict[str, str] = {"user-agent": USER_AGENT, **call.headers, "authorization": self._authorization}
        seconds = self.timeout_of(call)
        exchange: Optional[Exchange] = None
        try:
            exchange = self._transport.start(call.method, self._prefix + call.path, headers, call.body, seconds, call.once_only)
            if not (200 <= exchange.status < 300 or exchange.status == 304):
                raise _failure_of(exchange, call)
            return read(exchange)
        except BaseException as error:
            if exchange is not None:
                exchange.close()
            if isinstance(error, (OSError, http.client.HTTPException)):
                raise self.connection_error(error, seconds) from error
            raise

    def connection_error(self, error: BaseException, seconds: float) -> QuartermasterError:
        # Until Python 3.9, socket.timeout is not the built-in TimeoutError, which a kernel's ETIMEDOUT is.
        if isinstance(error, socket.timeout):
            return TimedOut(f"No complete response within {seconds:g} s.", code="timed_out")
        code, hint = why(error)
        return ConnectionFailed(f"No response from {self.base_url}: {error or type(error).__name__}.{hint}", code=code)


def _reply(exchange: Exchange) -> Reply:
    return Reply(exchange.read(), exchange.header("etag"), exchange.header("x-request-id"))


def _should_retry(error: QuartermasterError, call: Call) -> bool:
    """
    Every call is safe to retry, unless it says otherwise: reads change nothing, writes have an idempotency key, or change nothing
    the second time.
    """
    if call.once_only:
        return _was_refused(error)
    # No response or an incomplete one: a restart or a network failure. An unknown host name or a bad certificate is permanent.
    if isinstance(error, ConnectionFailed):
        return error.code == "connection_failed"
    # The service sheds load, or a proxy has no backend.
    if isinstance(error, (TimedOut, RateLimited, Unavailable)):
        return True
    # 409: an earlier attempt of this write is still running. 422: the key was used with another body, a caller's mistake.
    if isinstance(error, IdempotencyConflict):
        return error.status == 409
    # A proxy's timeout is worth a retry, and so is a total that the service goes on counting. After the service's own timeout the
    # same query would take as long again.
    # Invalid requests stay invalid, and a fault of the service must be reported, not retried.
    return isinstance(error, QueryTooSlow) and error.code in ("proxy_timeout", "total_pending")


def _was_refused(error: QuartermasterError) -> bool:
    """Whether the service says that it has done nothing. After a broken connection or a proxy's error it may have."""
    if isinstance(error, Unavailable):
        return error.code in ("overloaded", "database_unavailable")
    return isinstance(error, RateLimited)


def _failure_of(exchange: Exchange, call: Call) -> QuartermasterError:
    status, request_id = exchange.status, exchange.header("x-request-id")
    text = exchange.read()
    retry_after = retry_after_of(exchange.header("retry-after"))
    problem = _problem_of(exchange.header("content-type"), text)
    if problem is not None:
        return error_of_problem({**problem, "status": status}, call.parameters, retry_after)
    if status in (429, 502, 503, 504):
        message = f"The response has status {status} and is not from Quartermaster but from a proxy in front of it."
        code = "proxy_timeout" if status == 504 else "proxy_unavailable"
        return error_class(status, code)(message, code=code, status=status, request_id=request_id, retry_after=retry_after)
    location = exchange.header("location")
    description = (
        f"The response is a redirect{f' to {location}' if location else ''}"
        if 300 <= status < 400
        else f"The response has status {status} and is not from Quartermaster"
    )
    return UnexpectedResponse(f"{description}. Check base_url.", code="response_unexpected", status=status, request_id=request_id)


def _problem_of(content_type: Optional[str], text: bytes) -> Optional[Dict[str, Any]]:
    if content_type is None or not content_type.startswith("application/problem+json"):
        return None
    try:
        problem = loads(text)
    except ValueError:
        return None
    # Other servers send problem documents as well; only Quartermaster's have a code.
    is_ours = isinstance(problem, dict) and isinstance(problem.get("code"), str) and isinstance(problem.get("detail"), str)
    return problem if is_ours else None


def _normalized(base_url: str) -> str:
    """Accepts a path before /api/v1: a proxy may serve the API below one."""
    example = "it must be like https://acme.example.com."
    try:
        url = urlsplit(base_url)
        port = url.port
    except ValueError as cause:
        raise ValueError(f'base_url is "{base_url}"; {example}') from cause
    if url.scheme not in ("http", "https") or not url.hostname or re.search(r"[\s\\\x00-\x1f]", base_url):
        raise ValueError(f'base_url is "{base_url}"; {example}')
    if url.query or url.fragment or url.username is not None or base_url.rstrip().endswith(("?", "#")):
        raise ValueError("base_url must be an http or https URL without a query, a fragment or a user.")
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    return f"{url.scheme}://{host}{'' if port is None else f':{port}'}{quote(url.path, safe='/%').rstrip('/')}"


def _checked_key(api_key: str) -> str:
    if isinstance(api_key, str) and re.fullmatch(r"[\x21-\x7e]+", api_key):
        return api_key
    raise ValueError(
        "api_key is missing or contains characters that no API key has. Check that the variable it is read from is set."
    )


USER_AGENT = f"quartermaster-python/{__version__} Python/{platform.python_version()}"
