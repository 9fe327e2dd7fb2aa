"""A server that a test scripts: it handles each request with the next responder, and all later ones with the last."""

import contextlib
import http.server
import json
import threading
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional
from unittest import mock

from quartermaster import Quartermaster


class Received(NamedTuple):
    method: str
    path: str
    headers: Dict[str, str]
    body: str
    #: Differs for each connection.
    connection: int


Responder = Callable[[Any], None]


class Scripted:
    def __init__(self, *responders: Responder) -> None:
        self.requests: List[Received] = []
        self._lock = threading.Lock()
        scripted = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                with contextlib.suppress(ConnectionError):
                    super().handle_one_request()

            def respond(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
                headers = {name.lower(): value for name, value in self.headers.items()}
                with scripted._lock:
                    scripted.requests.append(Received(self.command, self.path, headers, body, self.client_address[1]))
                    at = min(len(scripted.requests), len(responders)) - 1
                responders[at](self)

            do_GET = do_QUERY = do_POST = do_PATCH = do_DELETE = respond

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def client(self, **options: Any) -> Quartermaster:
        return Quartermaster(self.url, "qm_key", **options)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def serving(test: Any, *responders: Responder) -> Scripted:
    scripted = Scripted(*responders)
    test.addCleanup(scripted.stop)
    return scripted


def response(status: int, body: str = "", headers: Optional[Dict[str, str]] = None) -> Responder:
    def respond(handler: Any) -> None:
        handler.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            handler.send_header(name, value)
        if status not in (204, 304):
            handler.send_header("content-length", str(len(body.encode())))
        handler.end_headers()
        handler.wfile.write(body.encode())

    return respond


def records(*rows: Dict[str, Any], headers: Optional[Dict[str, str]] = None, next_page: Optional[int] = None) -> Responder:
    pagination = {"previousPage": None, "currentPage": 1, "nextPage": next_page, "totalPages": 1}
    body = {"data": list(rows), "meta": {"count": len(rows), "total": len(rows)}, "pagination": pagination}
    return response(200, json.dumps(body), {"x-request-id": "r-1", **(headers or {})})


def problem(status: int, code: str, headers: Optional[Dict[str, str]] = None, **extra: Any) -> Responder:
    body = {"type": "", "title": "", "status": status, "detail": "The detail.", "code": code, "request_id": "r-9", **extra}
    return response(status, json.dumps(body), {"content-type": "application/problem+json; charset=utf-8", **(headers or {})})


def broken(handler: Any) -> None:
    """Closes the connection without a response."""
    handler.close_connection = True


def stream(*parts: str, breaks: bool = False) -> Responder:
    """A chunked response. With `breaks`, the connection closes before its end."""

    def respond(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "application/x-ndjson")
        handler.send_header("x-request-id", "r-5")
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        for part in parts:
            if part:
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(part.encode()), part.encode()))
        if breaks:
            handler.close_connection = True
        else:
            handler.wfile.write(b"0\r\n\r\n")

    return respond


@contextlib.contextmanager
def without_backoff() -> Iterator[None]:
    with mock.patch("quartermaster._backoff.random.random", return_value=0.0):
        yield
