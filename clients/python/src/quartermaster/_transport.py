"""HTTP over kept connections: `http.client`, with one deadline for a whole exchange."""

from __future__ import annotations

import http.client
import io
import os
import selectors
import socket
import ssl
import threading
import time
from typing import Any, Iterator, List, Mapping, Optional, Tuple
from urllib.parse import SplitResult

from . import _limits as limits


class Deadline:
    """When the current exchange on a connection must have ended."""

    def __init__(self) -> None:
        self._at = 0.0

    def move(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        left = self._at - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        return left


class _Reading(io.RawIOBase):
    """What a connection receives, until the deadline, however slowly the bytes arrive."""

    def __init__(self, sock: socket.socket, deadline: Deadline, early: bytearray) -> None:
        self._sock = sock
        # Keeps the socket open until it is closed, as `http.client` expects.
        self._raw = sock.makefile("rb", buffering=0)
        self._deadline = deadline
        self._early = early

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        if self._early:
            count = min(len(buffer), len(self._early))
            buffer[:count] = self._early[:count]
            del self._early[:count]
            return count
        self._sock.settimeout(self._deadline.left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _ReadingSocket:
    """What `http.client.HTTPResponse` needs of a socket."""

    def __init__(self, sock: socket.socket, deadline: Deadline, early: bytearray) -> None:
        self._parts = (sock, deadline, early)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reading(*self._parts), limits.READ_BYTES)


class Connection:
    """One connection, used by one thread at a time."""

    def __init__(self, url: SplitResult, context: Optional[ssl.SSLContext]) -> None:
        host = url.hostname or ""
        self.deadline = Deadline()
        self.is_used = False
        self._http: http.client.HTTPConnection = (
            http.client.HTTPSConnection(host, url.port, context=context)
            if url.scheme == "https"
            else http.client.HTTPConnection(host, url.port)
        )

    def send(self, method: str, path: str, headers: Mapping[str, str], body: Optional[bytes], seconds: float) -> http.client.HTTPResponse:
        """Sends a request, and reads the status and the headers of the response."""
        connection = self._http
        self.deadline.move(seconds)
        connection.timeout = self.deadline.left()
        if connection.sock is None:
            connection.connect()
        sock = connection.sock
        assert sock is not None
        sock.settimeout(self.deadline.left())
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None or method in ("POST", "PATCH"):
            connection.putheader("Content-Length", str(len(body or b"")))
        early = bytearray()
        if body is None or len(body) <= limits.READ_BYTES:
            connection.endheaders(body)
        else:
            connection.endheaders()
            self._send_and_receive(sock, memoryview(body), early)
        reading = _ReadingSocket(sock, self.deadline, early)
        connection.response_class = lambda _sock, **options: http.client.HTTPResponse(reading, **options)  # type: ignore
        self.is_used = True
        return connection.getresponse()

    def _send_and_receive(self, sock: socket.socket, rest: memoryview, early: bytearray) -> None:
        """
        Sends a long body while it receives the response. The service stops reading a batch while nobody reads its results, and it may
        respond and close the connection before it has read everything.
        """
        sock.setblocking(False)
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_READ | selectors.EVENT_WRITE)
            while rest:
                events = selector.select(self.deadline.left())
                if any(mask & selectors.EVENT_READ for _, mask in events) and not self._receive(sock, early):
                    return
                if any(mask & selectors.EVENT_WRITE for _, mask in events):
                    try:
                        rest = rest[sock.send(rest[: limits.READ_BYTES]) :]
                    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                        pass
                    except (BrokenPipeError, ConnectionResetError):
                        # What it has responded before may still be there to read.
                        return

    def _receive(self, sock: socket.socket, early: bytearray) -> bool:
        """False at the end of what the service sends."""
        try:
            received = sock.recv(limits.READ_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return True
        early += received
        return received != b""

    @property
    def is_open(self) -> bool:
        """Whether the connection can take another request: the service has not closed it."""
        sock = self._http.sock
        if sock is None:
            return False
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_READ)
            return not selector.select(0)

    def close(self) -> None:
        self._http.close()


class Exchange:
    """A response whose body has not been read yet. Close it, unless it was read to its end."""

    def __init__(self, transport: Transport, connection: Connection, response: http.client.HTTPResponse) -> None:
        self._transport = transport
        self._connection = connection
        self._response = response
        self._is_ended = False
        self.status = response.status

    def header(self, name: str) -> Optional[str]:
        return self._response.headers.get(name)

    def read(self) -> bytes:
        body = self._response.read()
        self._release()
        return body

    def chunks(self, seconds: float) -> Iterator[bytes]:
        """The body as it arrives. `seconds` is the timeout of each chunk."""
        while True:
            self._connection.deadline.move(seconds)
            chunk = self._response.read1(limits.READ_BYTES)
            if chunk == b"":
                self._release()
                return
            yield chunk

    def close(self) -> None:
        """Closes the connection, unless it is in use again: the rest of the response is not wanted."""
        if not self._is_ended:
            self._is_ended = True
            self._response.close()
            self._connection.close()

    def _release(self) -> None:
        if self._response.will_close:
            self.close()
        elif not self._is_ended:
            self._is_ended = True
            self._response.close()
            self._transport.keep(self._connection)


class Transport:
    """The connections of a client. Any number of threads can use it: each has a connection of its own while it needs one."""

    def __init__(self, url: SplitResult, context: Optional[ssl.SSLContext]) -> None:
        self._lock = threading.Lock()
        self._idle: List[Connection] = []
        self._process = os.getpid()
        self._url = url
        self._context = context if context is not None or url.scheme != "https" else ssl.create_default_context()

    def start(self, method: str, path: str, headers: Mapping[str, str], body: Optional[bytes], seconds: float, once_only: bool) -> Exchange:
        """
        Sends a request. A kept connection may have been closed by the service at this moment: then the request is sent on a new one,
        unless it must not be sent twice, which never uses a kept one.
        """
        connection = self._new() if once_only else self._take()
        is_kept = connection.is_used
        try:
            return self._exchange(connection, method, path, headers, body, seconds)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            if not is_kept:
                raise
        return self._exchange(self._new(), method, path, headers, body, seconds)

    def _exchange(self, connection: Connection, method: str, path: str, headers: Mapping[str, str], body: Optional[bytes], seconds: float) -> Exchange:
        try:
            return Exchange(self, connection, connection.send(method, path, headers, body, seconds))
        except BaseException:
            connection.close()
            raise

    def keep(self, connection: Connection) -> None:
        with self._lock:
            if self._process == os.getpid() and len(self._idle) < limits.IDLE_CONNECTIONS_MAX:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        self.close()

    def _take(self) -> Connection:
        with self._lock:
            if self._process != os.getpid():
                # After a fork, the connections belong to the parent process.
                self._idle, self._process = [], os.getpid()
            while self._idle:
                connection = self._idle.pop()
                if connection.is_open:
                    return connection
                connection.close()
        return self._new()

    def _new(self) -> Connection:
        return Connection(self._url, self._context)


def why(error: BaseException) -> Tuple[str, str]:
    """The code of a failure without a response, and a hint for a person."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return "tls_failed", " The TLS certificate of this host is not trusted."
    # EAI_AGAIN, the other DNS failure, is temporary: the DNS server did not respond.
    if isinstance(error, socket.gaierror) and error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", None)):
        return "host_unknown", " This host name does not exist. Check base_url."
    return "connection_failed", ""
