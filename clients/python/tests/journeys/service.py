"""
The real service: a temporary PostgreSQL, and `quartermaster serve` as a process of its own, set up with the commands that an operator uses.
Needs Node 24 and the npm packages of the checkout.
"""

import atexit
import http.client
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

ROOT = Path(__file__).resolve().parents[4]
PROGRAM = str(ROOT / "server/bin/quartermaster.js")
SCOPES = "product:read,product:write,partner:read,partner:create,partner:write,company:read,company:write,account:manage"
#: A busy machine may take this long.
PATIENCE_SECONDS = 300.0
#: An address that only the receiver of webhooks uses, so that the service may be allowed to reach it.
RECEIVER = "127.0.0.2"


def eventually(condition: Callable[[], Any], why: str = "the condition did not hold") -> None:
    """Waits for a condition. The timeout is long because CI machines are busy."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"{why} within {PATIENCE_SECONDS:g} s")
        time.sleep(0.02)


class Server:
    """`quartermaster serve` on its own port, which stays the same when it is restarted."""

    def __init__(self, environment: Dict[str, str], log: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._environment = environment
        self._log = log
        self._process: Optional[subprocess.Popen[bytes]] = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        with self._log.open("ab") as log:
            command = ["node", PROGRAM, "serve", "--port", str(self.port)]
            # Without a shell or wrapper between, so that a kill hits the service.
            self._process = subprocess.Popen(command, env=self._environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        process = self._process

        def ready() -> bool:
            if process.poll() is not None:
                raise AssertionError(f"the service did not start:\n{self._log.read_text()[-3000:]}")
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            try:
                connection.request("GET", "/readyz")
                return connection.getresponse().status == 200
            except OSError:
                return False
            finally:
                connection.close()

        eventually(ready, "the service was not ready")

    def kill(self) -> None:
        """SIGKILL, as when the machine fails."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None


class Proxy:
    """
    Names the account of each request, and can lose responses after the service has processed the request. It takes the place of the
    reverse proxy of a deployment, by whose host name the service knows the account.
    """

    def __init__(self, server: Server, account: str) -> None:
        #: How many responses to requests with this path are lost.
        self.lost: Counter[str] = Counter()
        #: Called with the path and the body of each response before it is sent.
        self.before_response: Callable[[str, bytes], None] = lambda _path, _body: None
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def forward(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
                upstream = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
                try:
                    upstream.request(self.command, self.path, body or None, {**headers, "x-forwarded-host": f"{account}.localhost"})
                    response = upstream.getresponse()
                    content = response.read()
                except (OSError, http.client.HTTPException):
                    self.close_connection = True
                    return
                finally:
                    upstream.close()
                path = self.path.split("?")[0]
                if proxy.lost[path] > 0:
                    proxy.lost[path] -= 1
                    self.close_connection = True
                    return
                proxy.before_response(self.path, content)
                self.send_response_only(response.status)
                for name, value in response.headers.items():
                    if name.lower() not in ("connection", "keep-alive", "transfer-encoding", "content-length"):
                        self.send_header(name, value)
                if response.status != 304:
                    self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_QUERY = do_POST = do_PATCH = do_DELETE = forward

            def log_message(self, *_: object) -> None:
                pass

            def handle(self) -> None:
                try:
                    super().handle()
                except ConnectionError:
                    pass

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()


class Account:
    def __init__(self, name: str, key: str, proxy: Proxy) -> None:
        self.name = name
        self.key = key
        self.proxy = proxy
        self.url = proxy.url


class Service:
    """Starts when the first test needs it, and stops with the process."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="quartermaster-python-"))
        self._servers: List[Server] = []
        self._postgres: Optional[subprocess.Popen[bytes]] = None
        self._accounts = 0
        atexit.register(self.stop)
        # Removes its own folder when this process has closed its standard input, even if it is killed.
        command = ["node", PROGRAM, "postgres", "--json", "--set", "fsync=off"]
        self._postgres = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._postgres.stdout is not None
        self.database_url = json.loads(self._postgres.stdout.readline())["database_url"]
        self.certificate = self._certificate()
        self.command("migrate")
        self.command("account", "create", "direct", "--ids", "external")
        self.server = self.serve(QUARTERMASTER_DEFAULT_ACCOUNT="direct")
        #: The key of the account that needs no proxy.
        self.direct_key = self.key("direct")

    @property
    def environment(self) -> Dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "NODE_COMPILE_CACHE": str(ROOT / "node_modules/.cache/commands"),
            "NODE_EXTRA_CA_CERTS": str(self.certificate),
            "DATABASE_URL": self.database_url,
            "QUARTERMASTER_LOG_LEVEL": "warn",
            "QUARTERMASTER_TRUSTED_PROXIES": "127.0.0.1",
            "QUARTERMASTER_READ_MS_MAX": "300000",
            "QUARTERMASTER_REQUESTS_PER_MINUTE": "1000000000",
            "QUARTERMASTER_KEY_REQUESTS_PER_MINUTE": "1000000000",
            "QUARTERMASTER_WEBHOOK_SECRET": "a-master-key-of-at-least-32-characters",
            "QUARTERMASTER_WEBHOOK_NETWORKS": RECEIVER,
        }

    def serve(self, **settings: str) -> Server:
        server = Server({**self.environment, **settings}, self.folder / f"server-{len(self._servers)}.log")
        self._servers.append(server)
        server.start()
        return server

    def command(self, *arguments: str) -> str:
        done = subprocess.run(["node", PROGRAM, *arguments], env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"quartermaster {' '.join(arguments)} exited with {done.returncode}:\n{done.stderr}{done.stdout}")
        return done.stdout

    def account(self, ids: Optional[str] = None) -> Account:
        self._accounts += 1
        name = f"acme{self._accounts}"
        self.command("account", "create", name, *([] if ids is None else ["--ids", ids]))
        return Account(name, self.key(name), Proxy(self.server, name))

    def key(self, account: str, scopes: str = SCOPES) -> str:
        printed = self.command("key", "create", "--account", account, "--name", "journeys", "--scopes", scopes, "--json")
        return str(json.loads(printed)["key"])

    def sql(self, statements: str) -> str:
        """What no write of the service does, such as another program in its tables."""
        done = subprocess.run(["psql", self.database_url, "-XAtqc", statements], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout.strip()

    def lose_track(self, account: Account, where: str = "false") -> None:
        """Deletes products as no write of the service does, so that the feed cannot know which: every cursor expires."""
        self.sql(
            f"""with one as (select account_id from account where name = '{account.name}'),
                  gone as (delete from product where account_id = (select account_id from one) and {where} returning 1)
                update tally set version = version + 1, total = total - (select count(*) from gone)
                where account_id = (select account_id from one) and resource = 'product'"""
        )

    def _certificate(self) -> Path:
        """Of the receiver of webhooks, which the service trusts."""
        certificate, key = self.folder / "receiver.crt", self.folder / "receiver.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
            + ["-subj", "/CN=receiver", "-addext", f"subjectAltName=IP:{RECEIVER}", "-keyout", str(key), "-out", str(certificate)],
            check=True,
            capture_output=True,
        )
        return certificate

    def stop(self) -> None:
        for server in self._servers:
            server.kill()
        if self._postgres is not None and self._postgres.stdin is not None:
            self._postgres.stdin.close()
            self._postgres.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


_service: Optional[Service] = None
_failure: Optional[BaseException] = None


def service() -> Service:
    """One for all tests. If it does not start, it is not started again for each of them."""
    global _service, _failure
    if _failure is not None:
        raise AssertionError(f"the service did not start: {_failure}")
    if _service is None:
        try:
            _service = Service()
        except BaseException as error:
            _failure = error
            raise
    return _service
