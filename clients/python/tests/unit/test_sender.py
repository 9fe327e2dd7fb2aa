"""Requests on the wire, against a server that each test scripts. The journeys run the client against the real service."""

import os
import re
import socket
import ssl
import threading
import time
import unittest
from unittest import mock
from urllib.parse import parse_qs

from quartermaster import (
    ApiError,
    BaseUrlInvalid,
    Conflict,
    ConnectionFailed,
    IdempotencyConflict,
    MemoryCache,
    NotFound,
    Quartermaster,
    QueryTooSlow,
    RateLimited,
    RequestInvalid,
    ServiceFault,
    StreamTruncated,
    TimedOut,
    Unavailable,
    UnexpectedResponse,
    field,
)

from .scripted import broken, problem, records, response, serving, stream, without_backoff

CREATED = response(201, '{"data":{"id":5}}')
WEBHOOK = {"resource": "product", "url": "https://example.com/hook"}


class Request(unittest.TestCase):
    def test_carries_the_key_and_all_parameters(self) -> None:
        server = serving(self, records({"id": 1}))
        page = server.client().products.list(fields=["id"], filter='name="ä & ö"', page=2, limit=5)
        self.assertEqual((page.data, page.total, page.request_id), ([{"id": 1}], 1, "r-1"))
        (request,) = server.requests
        path = "/api/v1/inventory/product?fields=id&filter=name%3D%22%C3%A4%20%26%20%C3%B6%22&page=2&limit=5"
        self.assertEqual((request.method, request.path), ("GET", path))
        self.assertEqual((request.headers["authorization"], request.headers["accept"]), ("Bearer qm_key", "application/json"))
        self.assertRegex(request.headers["user-agent"], r"^quartermaster-python/0\.\d+\.\d+ Python/3\.")

    def test_is_sent_as_query_if_its_filter_is_long(self) -> None:
        server = serving(self, records())
        server.client().products.list(filter=field.id.is_in(range(100_000, 100_900)))
        (request,) = server.requests
        self.assertEqual((request.method, request.path), ("QUERY", "/api/v1/inventory/product"))
        self.assertRegex(parse_qs(request.body)["filter"][0], r"^id\[100000,.*,100899]$")

    def test_preserves_a_path_of_base_url(self) -> None:
        server = serving(self, records())
        Quartermaster(f"{server.url}/erp/", "k").companies.list()
        self.assertEqual(server.requests[0].path, "/erp/api/v1/resources/company")

    def test_rejects_an_invalid_base_url_or_key_before_sending_anything(self) -> None:
        for url in ("acme", "", "ftp://a.example", "https://", "https://a.example:x", "https://a .example"):
            with self.assertRaisesRegex(ValueError, f'base_url is "{re.escape(url)}"'):
                Quartermaster(url, "k")
        for url in ("https://a.example?x", "https://a.example#x", "https://me:secret@a.example"):
            with self.assertRaisesRegex(ValueError, "without a query"):
                Quartermaster(url, "k")
        for key in ("", "a b", "schlüssel", "k\r\nx: y", None):
            with self.assertRaisesRegex(ValueError, "api_key is missing"):
                Quartermaster("https://a.example", key)  # type: ignore[arg-type]

    def test_rejects_what_is_no_address_and_sends_nothing(self) -> None:
        server = serving(self, records())
        products = server.client().products
        for address in ("", "7", None, True, {}, {"x_sku": None}, {"x_sku": "a", "x_number": 1}):
            with self.assertRaises(TypeError):
                products.get(address)  # type: ignore[arg-type]
        for call in (lambda: products.get(-1), lambda: products.list(fields=[])):
            with self.assertRaises(ValueError):
                call()
        with self.assertRaisesRegex(TypeError, "list of names"):
            products.list(fields="id")
        for entry in ("", "..", "a/b", "a?b", "a b"):
            with self.assertRaisesRegex(ValueError, "is not the id"):
                server.client().manage.keys.get(entry)
        self.assertEqual(server.requests, [])

    def test_has_decimals_and_no_floats(self) -> None:
        server = serving(self, CREATED)
        from decimal import Decimal

        server.client().products.create({"name": "ä", "list_price": Decimal("1E+3"), "qty_available": Decimal("0.10")})
        self.assertEqual(server.requests[0].body, '{"name":"ä","list_price":"1000","qty_available":"0.10"}')
        with self.assertRaisesRegex(TypeError, r'list_price is the float 0.1.*Decimal\("0.1"\)'):
            server.client().products.create({"name": "x", "list_price": 0.1})
        self.assertEqual(len(server.requests), 1)


class Connections(unittest.TestCase):
    def test_are_kept_for_later_calls(self) -> None:
        server = serving(self, records())
        with server.client() as qm:
            for _ in range(5):
                qm.products.list()
        self.assertEqual(len({request.connection for request in server.requests}), 1)

    def test_are_shared_by_threads_one_at_a_time(self) -> None:
        together = threading.Barrier(4)

        def respond(handler: object) -> None:
            together.wait(30)
            records({"id": 1})(handler)

        server = serving(self, respond)
        qm = server.client()
        for _ in range(3):
            pages = []
            threads = [threading.Thread(target=lambda: pages.append(qm.products.list())) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual([page.data for page in pages], [[{"id": 1}]] * 4)
        self.assertEqual(len({request.connection for request in server.requests}), 4)

    def test_that_the_service_has_closed_cost_no_retry(self) -> None:
        def once(handler: object) -> None:
            records()(handler)
            handler.close_connection = True  # type: ignore[attr-defined]

        server = serving(self, once)
        qm = server.client(retry_for=0)
        for _ in range(3):
            qm.products.list()
        self.assertEqual(len({request.connection for request in server.requests}), 3)

    def test_are_not_used_again_for_a_write_that_must_not_be_repeated(self) -> None:
        server = serving(self, records(), CREATED, records())
        qm = server.client()
        qm.products.list()
        qm.manage.webhooks.create(WEBHOOK)
        first, second = (request.connection for request in server.requests)
        self.assertNotEqual(first, second)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork on this platform")
    def test_are_not_used_by_a_child_process(self) -> None:
        server = serving(self, records())
        qm = server.client()
        qm.products.list()
        child = os.fork()
        if child == 0:
            try:
                qm.products.list()
                os._exit(0)
            except BaseException:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        qm.products.list()
        first, of_child, third = (request.connection for request in server.requests)
        self.assertEqual((of_child == first, third == first), (False, True))


class Retries(unittest.TestCase):
    def test_are_sent_after_503_429_a_502_of_a_proxy_and_broken_connections(self) -> None:
        bad = response(502, "<h1>", {"content-type": "text/html"})
        server = serving(self, problem(503, "overloaded"), problem(429, "rate_limited"), bad, broken, records({"id": 7}))
        with without_backoff():
            self.assertEqual(server.client().products.list().data, [{"id": 7}])
        self.assertEqual(len(server.requests), 5)

    def test_wait_as_long_as_retry_after_says(self) -> None:
        server = serving(self, problem(503, "database_unavailable", {"retry-after": "1"}), records())
        started = time.monotonic()
        with without_backoff():
            server.client().products.list()
        self.assertGreater(time.monotonic() - started, 0.99)

    def test_are_not_sent_if_retry_after_exceeds_retry_for(self) -> None:
        server = serving(self, problem(429, "rate_limited", {"retry-after": "3600"}))
        with self.assertRaises(RateLimited) as caught:
            server.client().products.list()
        error = caught.exception
        self.assertEqual((error.retry_after, error.code, error.request_id, error.status), (3600, "rate_limited", "r-9", 429))
        self.assertEqual(len(server.requests), 1)

    def test_are_not_sent_after_permanent_errors(self) -> None:
        for status, code, kind in (
            (400, "request_invalid", RequestInvalid),
            (404, "record_unknown", NotFound),
            (500, "internal", ServiceFault),
            (504, "deadline_exceeded", QueryTooSlow),
        ):
            server = serving(self, problem(status, code))
            with self.assertRaises(kind) as caught:
                server.client().products.list()
            self.assertIsInstance(caught.exception, ApiError)
            self.assertEqual(len(server.requests), 1)

    def test_end_after_retry_for(self) -> None:
        server = serving(self, problem(503, "overloaded"))
        with self.assertRaises(Unavailable):
            server.client(retry_for=0).products.list()
        self.assertEqual(len(server.requests), 1)
        started = time.monotonic()
        with self.assertRaises(Unavailable):
            server.client(retry_for=0.5).products.list()
        self.assertLess(time.monotonic() - started, 0.5 + 5)
        self.assertGreater(len(server.requests), 2)

    def test_end_with_an_error_that_names_the_unreachable_host(self) -> None:
        with self.assertRaisesRegex(ConnectionFailed, r"No response from http://127\.0\.0\.1:1: .*refused") as caught:
            Quartermaster("http://127.0.0.1:1", "k", retry_for=0).products.list()
        self.assertEqual((caught.exception.code, caught.exception.status), ("connection_failed", 0))

    def test_back_off_exponentially_with_jitter_up_to_a_cap(self) -> None:
        from quartermaster._backoff import backoff_seconds

        with mock.patch("quartermaster._backoff.random.random", return_value=1.0):
            bounds = [backoff_seconds(attempts) for attempts in (1, 2, 3, 6, 7, 10_000)]
        self.assertEqual(bounds, [0.2, 0.4, 0.8, 5.0, 5.0, 5.0])
        with without_backoff():
            self.assertEqual(backoff_seconds(3, 2.0), 2.0)
        self.assertGreater(len({backoff_seconds(3) for _ in range(10)}), 5)

    def test_of_a_create_have_the_same_idempotency_key_and_another_create_has_another(self) -> None:
        server = serving(self, broken, problem(409, "idempotency_conflict"), CREATED)
        qm = server.client()
        with without_backoff():
            self.assertEqual(qm.partners.create({"name": "Nordwind"}), 5)
        qm.partners.create({"name": "Nordwind"})
        qm.partners.create({"name": "Nordwind"}, idempotency_key="order-4711")
        keys = [request.headers["idempotency-key"] for request in server.requests]
        self.assertRegex(keys[0], "^[0-9a-f]{32}$")
        self.assertEqual(keys[:3], [keys[0]] * 3)
        self.assertNotEqual(keys[3], keys[0])
        self.assertEqual(keys[4], "order-4711")
        self.assertEqual({request.body for request in server.requests}, {'{"name":"Nordwind"}'})


class Failures(unittest.TestCase):
    def outcome(self, error: BaseException) -> ConnectionFailed:
        with mock.patch("quartermaster._transport.Connection.send", side_effect=error) as send:
            with self.assertRaises(ConnectionFailed) as caught:
                Quartermaster("https://acme.example.com", "k").products.list()
            self.assertEqual(send.call_count, 1)
        return caught.exception

    def test_that_are_permanent_are_not_retried(self) -> None:
        self.assertEqual(self.outcome(socket.gaierror(socket.EAI_NONAME, "unknown")).code, "host_unknown")
        self.assertEqual(self.outcome(ssl.SSLCertVerificationError("self-signed")).code, "tls_failed")

    def test_that_are_temporary_are_retried(self) -> None:
        server = serving(self, records())
        for error in (socket.gaierror(socket.EAI_AGAIN, "again"), ConnectionRefusedError(), ConnectionResetError(), socket.timeout()):
            qm = server.client()
            real = qm._sender._transport._exchange
            outcomes = [error]

            def exchange(*args, _real=real, _outcomes=outcomes):  # type: ignore[no-untyped-def]
                if _outcomes:
                    raise _outcomes.pop()
                return _real(*args)

            with without_backoff(), mock.patch.object(qm._sender._transport, "_exchange", exchange):
                self.assertEqual(qm.products.list().data, [])
            self.assertEqual(outcomes, [])

    def test_409_is_a_conflict_that_a_retry_would_meet_again_unless_the_first_attempt_is_running(self) -> None:
        for code in ("records_exhausted", "key_already_created", "added_later"):
            server = serving(self, problem(409, code))
            with self.assertRaises(Conflict) as caught:
                server.client().products.create({"name": "Bolt"})
            self.assertEqual((caught.exception.code, len(server.requests)), (code, 1))
        running = serving(self, problem(409, "idempotency_conflict"), CREATED)
        with without_backoff():
            self.assertEqual(running.client().products.create({"name": "Bolt"}), 5)
        other = serving(self, problem(422, "idempotency_mismatch"))
        with self.assertRaises(IdempotencyConflict):
            other.client().products.create({"name": "Bolt"})
        self.assertEqual((len(running.requests), len(other.requests)), (2, 1))

    def test_a_write_that_must_not_be_repeated_is_retried_only_if_nothing_was_written(self) -> None:
        for status, code in ((429, "account_busy"), (503, "overloaded"), (503, "database_unavailable")):
            server = serving(self, problem(status, code), response(201, '{"data":{"id":"wh_1"}}'))
            with without_backoff():
                self.assertEqual(server.client().manage.webhooks.create(WEBHOOK)["id"], "wh_1")
            self.assertEqual(len(server.requests), 2)
        for outcome in (broken, problem(503, "outcome_unknown"), response(502, "Bad Gateway"), response(504)):
            for send in (
                lambda webhooks: webhooks.create(WEBHOOK),
                lambda webhooks: webhooks.rotate("wh_1"),
                lambda webhooks: webhooks.delete("wh_1"),
            ):
                server = serving(self, outcome, CREATED)
                with self.assertRaises((ApiError, ConnectionFailed)):
                    send(server.client().manage.webhooks)
                self.assertEqual(len(server.requests), 1)

    def test_404_is_not_found_only_with_the_code_record_unknown(self) -> None:
        for responder, kind in (
            (problem(404, "record_unknown"), NotFound),
            (problem(404, "path_unknown"), BaseUrlInvalid),
            (problem(404, "added_later"), BaseUrlInvalid),
            (problem(404, "key_unknown"), RequestInvalid),
            (response(404, '{"status":404}', {"content-type": "application/problem+json"}), UnexpectedResponse),
            (response(404, "[]", {"content-type": "application/problem+json"}), UnexpectedResponse),
            (response(404, "<h1>", {"content-type": "text/html"}), UnexpectedResponse),
        ):
            with self.assertRaises(kind) as caught:
                serving(self, responder).client().products.get(1)
            self.assertIs(type(caught.exception), kind)

    def test_describe_a_response_that_is_not_from_the_service(self) -> None:
        with self.assertRaisesRegex(UnexpectedResponse, "not JSON"):
            serving(self, response(200, "<html>")).client().products.list()
        with self.assertRaisesRegex(UnexpectedResponse, "a redirect to https://a.example/"):
            serving(self, response(301, "", {"location": "https://a.example/"})).client().products.list()
        with self.assertRaisesRegex(UnexpectedResponse, "has no id"):
            serving(self, response(201, '{"data":{}}')).client().partners.create({"name": "x"})
        with self.assertRaisesRegex(UnexpectedResponse, "not a batch"):
            serving(self, response(200, "<html>\n")).client().partners.upsert([{"id": 1, "name": "x"}])
        self.assertEqual(serving(self, response(201, "124")).client().partners.create({"name": "x"}), 124)

    def test_point_at_the_wrong_part_of_the_filter(self) -> None:
        # The emoji is two UTF-16 code units, which the service counts.
        text = 'name="🔩"&nane=Bolt'
        fault = {"parameter": "filter", "code": "field_unknown", "message": "No.", "offset": 10, "length": 4, "suggestion": "name=Bolt"}
        with self.assertRaises(RequestInvalid) as caught:
            serving(self, problem(400, "request_invalid", errors=[fault])).client().products.list(filter=text)
        error = caught.exception
        self.assertEqual((error.errors, error.suggestion, text[error.span]), ([fault], "name=Bolt", "nane"))
        self.assertEqual(
            str(error),
            f"The detail.\n  {text}\n           ^^^^\nSuggestion: name=Bolt\n(request_invalid, request r-9)",
        )


class Timeouts(unittest.TestCase):
    def test_end_a_call_without_a_response(self) -> None:
        server = serving(self, lambda _handler: time.sleep(5))
        with self.assertRaisesRegex(TimedOut, "within 0.1 s") as caught:
            server.client(timeout=0.1, retry_for=0).products.list()
        self.assertEqual(caught.exception.code, "timed_out")
        with self.assertRaises(TimedOut):
            server.client(retry_for=0).products.list(timeout=0.1)

    def test_end_a_call_whose_response_arrives_too_slowly(self) -> None:
        def slow(handler: object) -> None:
            handler.send_response(200)  # type: ignore[attr-defined]
            handler.send_header("content-length", "1000")  # type: ignore[attr-defined]
            handler.end_headers()  # type: ignore[attr-defined]
            for _ in range(100):
                handler.wfile.write(b" ")  # type: ignore[attr-defined]
                time.sleep(0.05)

        started = time.monotonic()
        with self.assertRaises(TimedOut):
            serving(self, slow).client(timeout=0.3, retry_for=0).products.list()
        self.assertLess(time.monotonic() - started, 4)

    def test_end_a_call_whose_headers_arrive_too_slowly(self) -> None:
        def slow(handler: object) -> None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-long: ")  # type: ignore[attr-defined]
            for _ in range(100):
                handler.wfile.write(b"x")  # type: ignore[attr-defined]
                time.sleep(0.05)

        started = time.monotonic()
        with self.assertRaises(TimedOut):
            serving(self, slow).client(timeout=0.3, retry_for=0).products.list()
        self.assertLess(time.monotonic() - started, 4)

    def test_stop_ends_watch_and_sync_during_the_backoff(self) -> None:
        server = serving(self, problem(503, "overloaded", {"retry-after": "30"}))
        for start in (server.client().products.watch, server.client().products.sync):
            stop = threading.Event()
            threading.Timer(0.2, stop.set).start()
            started = time.monotonic()
            self.assertEqual(list(start(stop=stop)), [])
            self.assertLess(time.monotonic() - started, 10)


class Cache(unittest.TestCase):
    def test_returns_the_cached_response_after_a_304_and_only_then(self) -> None:
        server = serving(
            self,
            records({"id": 1}, headers={"etag": '"a"'}),
            response(304, "", {"etag": '"a"'}),
            records({"id": 2}, headers={"etag": '"b"'}),
            records({"id": 3}),
        )
        products = server.client(cache=MemoryCache()).products
        self.assertEqual([products.list(limit=1).data[0]["id"] for _ in range(4)], [1, 1, 2, 3])
        sent = [request.headers.get("if-none-match") for request in server.requests]
        self.assertEqual(sent, [None, '"a"', '"a"', '"b"'])

    def test_evicts_what_was_used_least_recently(self) -> None:
        from quartermaster import CacheEntry

        cache = MemoryCache(bytes_max=30)
        for key in ("a", "b"):
            cache.set(key, CacheEntry("etag", b"x" * 10))
        cache.get("a")
        cache.set("c", CacheEntry("etag", b"x" * 10))
        self.assertEqual([cache.get(key) is not None for key in ("a", "b", "c")], [True, False, True])
        cache.set("a", CacheEntry("etag", b"x" * 100))
        self.assertEqual([cache.get(key) is not None for key in ("a", "b", "c")], [False, False, True])

    def test_the_version_of_a_list_is_in_its_etag(self) -> None:
        server = serving(self, records(headers={"etag": 'W/"b47f89b24945-17-1-7gA21mj_XelBa52y"'}))
        self.assertEqual(server.client().products.list().version, "b47f89b24945-17")


class Exports(unittest.TestCase):
    def test_yield_the_records_before_the_end_marker(self) -> None:
        server = serving(self, stream('{"id":1}\n{"i', 'd":2}\n{"$end":{"count":2,"version":"00000001-7"}}\n'))
        export = server.client().products.export(fields=["id"], filter="active=true")
        self.assertEqual([record["id"] for record in export], [1, 2])
        self.assertEqual((export.count, export.version), (2, "00000001-7"))
        (request,) = server.requests
        self.assertEqual(request.path, "/api/v1/inventory/product?fields=id&filter=active%3Dtrue")
        self.assertEqual(request.headers["accept"], "application/x-ndjson")

    def test_raise_stream_truncated_without_an_end_marker_or_with_another_count(self) -> None:
        for parts in (
            [""],
            ['{"id":1}\n'],
            ['{"id":1}\n{"id":'],
            ['{"id":1}\n{"$end":{"count":1,"version":"1-1"}}'],
            ['{"id":1}\n{"$end":{"count":2,"version":"1-1"}}\n'],
        ):
            for breaks in (False, True):
                with self.assertRaises(StreamTruncated) as caught:
                    if list(serving(self, stream(*parts, breaks=breaks)).client().products.export()):
                        self.fail("complete")
                self.assertEqual((caught.exception.request_id, caught.exception.code), ("r-5", "stream_truncated"))

    def test_are_retried_before_the_first_record_and_not_later(self) -> None:
        server = serving(self, problem(503, "overloaded"), stream('{"id":1}\n', breaks=True))
        with without_backoff():
            export = server.client().products.export()
        self.assertEqual(next(export), {"id": 1})
        with self.assertRaises(StreamTruncated) as caught:
            next(export)
        self.assertEqual((caught.exception.count, len(server.requests)), (1, 2))

    def test_that_are_not_read_to_their_end_close_their_connection(self) -> None:
        server = serving(self, stream('{"id":1}\n{"id":2}\n', '{"$end":{"count":2,"version":"1-1"}}\n'), records())
        qm = server.client()
        with qm.products.export() as export:
            next(export)
        qm.products.list()
        first, second = (request.connection for request in server.requests)
        self.assertNotEqual(first, second)


class Batches(unittest.TestCase):
    END = '{"$end":{"read":%d,"inserted":%d,"updated":0,"unchanged":0,"deleted":0,"rejected":0}}\n'

    def test_are_split_by_rows_and_sent_again_until_they_are_confirmed(self) -> None:
        first, second = self.END % (5000, 5000), self.END % (1, 1)
        server = serving(self, stream(first[:20], breaks=True), stream(first[:-2]), stream(first), stream(second))
        progress = []
        with without_backoff():
            totals = server.client().products.upsert(({"id": at, "name": "x"} for at in range(1, 5002)), on_progress=progress.append)
        self.assertEqual((totals.read, totals.inserted, [one.read for one in progress]), (5001, 5001, [5000, 5001]))
        bodies = [request.body for request in server.requests]
        self.assertEqual((bodies[0] == bodies[1] == bodies[2], bodies[3]), (True, '{"id":5001,"name":"x"}\n'))

    def test_read_the_results_while_they_are_sent(self) -> None:
        """A service that reads no further before its results are read, and results larger than all buffers between."""

        rows = 5000
        fault = '{"line":%d,"field":"name","reason":"no","value":"' + "x" * 1000 + '"}\n'

        def respond(connection: socket.socket) -> None:
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(1000)
            head, body = received.split(b"\r\n\r\n", 1)
            length = int(re.search(rb"content-length: (\d+)", head, re.I).group(1))  # type: ignore[union-attr]
            lines = "".join(fault % at for at in range(1, rows + 1)) + '{"$end":{"read":5000,"inserted":0,"updated":0,"unchanged":0,"deleted":0,"rejected":5000}}\n'
            answer = f"HTTP/1.1 200 OK\r\nx-request-id: r\r\ncontent-length: {len(lines)}\r\n\r\n{lines}".encode()
            connection.sendall(answer)
            got = len(body)
            while got < length:
                got += len(connection.recv(65536))
            connection.close()

        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        thread = threading.Thread(target=lambda: respond(listener.accept()[0]), daemon=True)
        thread.start()
        rejected = []
        qm = Quartermaster(f"http://127.0.0.1:{listener.getsockname()[1]}", "k", retry_for=0)
        many = ({"id": at, "name": "y" * 700} for at in range(1, rows + 1))
        totals = qm.products.upsert(many, on_rejected=rejected.append, timeout=60)
        self.assertEqual((totals.rejected, len(rejected), rejected[-1].row["id"]), (rows, rows, rows))

    def test_report_rejected_rows_with_their_index(self) -> None:
        lines = (
            '{"line":2,"id":8,"field":"name","reason":"is empty","value":"","more":[{"field":"active","reason":"no","value":"x"}]}\n'
            '{"$end":{"read":2,"inserted":1,"updated":0,"unchanged":0,"deleted":0,"rejected":1,"idsNow":"external"}}\n'
        )
        server = serving(self, stream(lines))
        rejected = []
        rows = [{"id": 7, "name": "a"}, {"id": 8, "name": ""}]
        totals = server.client().products.upsert(rows, mode="update", key="x_sku", on_rejected=rejected.append)
        (one,) = rejected
        self.assertEqual((one.row, one.index, one.id, one.field, one.reason, one.more[0].field), (rows[1], 1, 8, "name", "is empty", "active"))
        self.assertEqual(totals.ids_now, "external")
        self.assertEqual(server.requests[0].path, "/api/v1/inventory/product/batch?key=x_sku&mode=update")

    def test_raise_the_error_at_the_end_of_a_response(self) -> None:
        line = '{"$error":{"status":400,"code":"rows_rejected","detail":"Too many.","request_id":"r-7"}}\n'
        with self.assertRaises(RequestInvalid) as caught:
            serving(self, stream(line)).client().products.upsert([{"id": 1, "name": "x"}])
        self.assertEqual((caught.exception.code, caught.exception.request_id), ("rows_rejected", "r-7"))

    def test_send_nothing_for_no_rows(self) -> None:
        server = serving(self, records())
        self.assertEqual(server.client().products.upsert([]).read, 0)
        self.assertEqual(server.requests, [])
