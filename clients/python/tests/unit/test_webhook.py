"""Messages signed by the standard library, and the example that Standard Webhooks publishes."""

import base64
import hashlib
import hmac
import io
import json
import unittest
from decimal import Decimal
from email.message import Message
from typing import Any, Dict, List, Optional
from unittest import mock

from quartermaster import WebhookInvalid, WebhookResponse, handle_webhook, verify_webhook

NOW = 1_760_000_000
KEYS = [bytes([one]) * 32 for one in (1, 2, 3)]
SECRETS = [f"whsec_{base64.b64encode(key).decode()}" for key in KEYS]
BODY = (
    '{"type":"product.changed","timestamp":"2025-10-09T08:53:20.000Z","data":{"webhook":"wh_1","changes":['
    '{"change":"updated","id":7,"version":3,"record":{"id":7,"name":"Größe","list_price":0.1,"qty_available":5}},'
    '{"change":"deleted","id":8,"version":4}],"more":false,"cursor":"AQ"}}'
)


def signature(message_id: str, timestamp: object, body: str, key: bytes = KEYS[0]) -> str:
    digest = hmac.new(key, f"{message_id}.{timestamp}.{body}".encode(), hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def headers_of(body: str = BODY, **changes: Optional[str]) -> Dict[str, str]:
    values = {"id": "msg_1", "timestamp": str(NOW), "signature": signature("msg_1", NOW, body), **changes}
    return {f"webhook-{name}": value for name, value in values.items() if value is not None}


class Webhooks(unittest.TestCase):
    def setUp(self) -> None:
        clock = mock.patch("quartermaster._webhook.time.time", return_value=float(NOW))
        self.clock = clock.start()
        self.addCleanup(clock.stop)

    def test_accept_the_signature_that_standard_webhooks_publishes(self) -> None:
        self.clock.return_value = 1_614_265_330.0
        headers = {
            "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "webhook-timestamp": "1614265330",
            "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        }
        secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        self.assertEqual(verify_webhook(headers, '{"test": 2432232314}', secret), {"test": 2432232314})
        with self.assertRaises(WebhookInvalid):
            verify_webhook(headers, '{"test": 2432232315}', secret)

    def test_accept_headers_of_any_framework_and_a_body_as_text_or_bytes(self) -> None:
        message = Message()
        for name, value in headers_of().items():
            message[name.title()] = value
        for headers in (headers_of(), message, list(headers_of().items())):
            for body in (BODY, BODY.encode(), bytearray(BODY.encode())):
                self.assertEqual(verify_webhook(headers, body, SECRETS[0])["data"]["cursor"], "AQ")

    def test_have_decimals(self) -> None:
        record = verify_webhook(headers_of(), BODY, SECRETS[0])["data"]["changes"][0]["record"]
        self.assertEqual((record["list_price"], record["name"]), (Decimal("0.1"), "Größe"))
        self.assertIsInstance(record["qty_available"], Decimal)

    def test_accept_any_signature_by_any_secret_as_during_a_rotation(self) -> None:
        both = f"v1a,AAAA v2,x {signature('msg_1', NOW, BODY, KEYS[1])} {signature('msg_1', NOW, BODY, KEYS[2])}"
        headers = headers_of(signature=both)
        for accepted in (SECRETS[1], SECRETS[2], [SECRETS[0], SECRETS[2]]):
            self.assertEqual(verify_webhook(headers, BODY, accepted)["type"], "product.changed")
        with self.assertRaises(WebhookInvalid):
            verify_webhook(headers, BODY, SECRETS[0])

    def test_may_differ_from_the_clock_by_the_tolerance(self) -> None:
        def at(timestamp: int) -> Any:
            headers = headers_of(timestamp=str(timestamp), signature=signature("msg_1", timestamp, BODY))
            return verify_webhook(headers, BODY, SECRETS[0], tolerance=10)

        for accepted in (NOW - 10, NOW, NOW + 10):
            at(accepted)
        for rejected in (NOW - 11, NOW + 11):
            with self.assertRaisesRegex(WebhookInvalid, "within 10 s"):
                at(rejected)

    def test_are_rejected_if_anything_is_wrong(self) -> None:
        old = NOW - 301
        for why, changes in (
            ("another secret", {"signature": signature("msg_1", NOW, BODY, KEYS[1])}),
            ("another id", {"id": "msg_2"}),
            ("another time", {"timestamp": str(NOW + 1)}),
            ("another body", {"signature": signature("msg_1", NOW, f"{BODY} ")}),
            ("a shortened signature", {"signature": signature("msg_1", NOW, BODY)[:-4]}),
            ("another version", {"signature": signature("msg_1", NOW, BODY).replace("v1", "v2")}),
            ("not ASCII", {"signature": "v1,ä"}),
            ("no signature", {"signature": None}),
            ("an empty signature", {"signature": ""}),
            ("no id", {"id": None}),
            ("no timestamp", {"timestamp": None}),
            ("too old", {"timestamp": str(old), "signature": signature("msg_1", old, BODY)}),
            ("no number", {"timestamp": "NaN", "signature": signature("msg_1", "NaN", BODY)}),
            ("digits of another script", {"timestamp": "١٧", "signature": signature("msg_1", "١٧", BODY)}),
            ("too many signatures", {"signature": "v1,x " * 10 + signature("msg_1", NOW, BODY)}),
        ):
            with self.subTest(why), self.assertRaises(WebhookInvalid) as caught:
                verify_webhook(headers_of(**changes), BODY, SECRETS[0])
            self.assertEqual(caught.exception.code, "webhook_invalid")
        with self.assertRaisesRegex(WebhookInvalid, "webhook-id is missing, or repeated"):
            verify_webhook([*headers_of().items(), ("Webhook-Id", "msg_1")], BODY, SECRETS[0])
        with self.assertRaisesRegex(WebhookInvalid, "not JSON"):
            verify_webhook(headers_of("{"), "{", SECRETS[0])

    def test_mistakes_of_the_caller(self) -> None:
        for wrong in ("", "whsec_", "whsec_AAAA", SECRETS[0][6:], f"{SECRETS[0]}A", SECRETS[0][:-1]):
            with self.assertRaises(ValueError):
                verify_webhook(headers_of(), BODY, wrong)
        with self.assertRaises(ValueError):
            verify_webhook(headers_of(), BODY, [])
        with self.assertRaisesRegex(TypeError, "as it was received"):
            verify_webhook(headers_of(), json.loads(BODY), SECRETS[0])


CHALLENGE = '{"type":"webhook.challenge","timestamp":"","data":{"webhook":"wh_1","challenge":"abc"}}'


class Unread:
    """A stream of which nothing may be read."""

    def read(self, _size: int, /) -> bytes:
        raise AssertionError("it was read")


class Slow(io.BytesIO):
    """A stream that returns a few bytes at a time, as a socket may."""

    def read(self, size: Optional[int] = -1, /) -> bytes:
        return super().read(min(7, 7 if size is None or size < 0 else size))


class Handler(unittest.TestCase):
    def setUp(self) -> None:
        clock = mock.patch("quartermaster._webhook.time.time", return_value=float(NOW))
        clock.start()
        self.addCleanup(clock.stop)
        self.events: List[Dict[str, Any]] = []

    def handle(self, body: Any = BODY, headers: Optional[Dict[str, str]] = None, **options: Any) -> WebhookResponse:
        text = body if isinstance(body, str) else BODY
        return handle_webhook(headers_of(text) if headers is None else headers, body, SECRETS[0], self.events.append, **options)

    def test_calls_the_function_with_the_event(self) -> None:
        self.assertEqual(self.handle(), (204, {}, b""))
        record = self.events[0]["data"]["changes"][0]["record"]
        self.assertEqual((len(self.events), record["list_price"]), (1, Decimal("0.1")))

    def test_reads_a_stream_as_long_as_the_message_is(self) -> None:
        length = len(BODY.encode())
        headers = {**headers_of(), "Content-Length": str(length)}
        for stream in (io.BytesIO(BODY.encode() + b"the next request"), Slow(BODY.encode() + b"the next request")):
            self.assertEqual(self.handle(stream, headers).status, 204)
            self.assertEqual(stream.tell(), length)
        self.assertEqual(len(self.events), 2)
        # The connection broke: what arrived is not what was signed.
        self.assertEqual(self.handle(io.BytesIO(BODY.encode()[:-1]), headers).status, 401)

    def test_returns_a_signed_challenge_and_no_other(self) -> None:
        expected = {"content-type": "text/plain; charset=utf-8", "content-length": "3"}
        self.assertEqual(self.handle(CHALLENGE), (200, expected, b"abc"))
        forged = self.handle(CHALLENGE, headers_of(BODY))
        self.assertEqual((forged.status, b"abc" in forged.body), (401, False))
        self.assertEqual(self.events, [])

    def test_raises_what_the_function_raises_so_that_the_message_is_sent_again(self) -> None:
        def fail(_event: Dict[str, Any]) -> None:
            raise RuntimeError("the database is down")

        with self.assertRaisesRegex(RuntimeError, "the database is down"):
            handle_webhook(headers_of(), BODY, SECRETS[0], fail)

    def test_rejects_other_methods_and_larger_bodies_than_any_message_without_reading_them(self) -> None:
        self.assertEqual(self.handle(Unread(), method="GET"), (405, {"allow": "POST", "content-length": "0"}, b""))
        self.assertEqual(self.handle("x" * (1024 * 1024 + 1)).status, 413)
        self.assertEqual(self.handle(Unread(), {**headers_of(), "content-length": str(1024 * 1024 + 1)}).status, 413)
        for length in ({}, {"content-length": "-1"}, {"content-length": "all"}):
            self.assertEqual(self.handle(Unread(), {**headers_of(), **length}).status, 411)
        self.assertEqual(self.handle("").status, 401)
        self.assertEqual(self.events, [])

    def test_mistakes_of_the_caller_look_like_no_forgery(self) -> None:
        with self.assertRaisesRegex(TypeError, "not parsed"):
            self.handle(json.loads(BODY))
        with self.assertRaises(ValueError):
            handle_webhook(headers_of(), BODY, "whsec_", self.events.append)

        async def receive(_event: Dict[str, Any]) -> None:
            pass

        with self.assertRaisesRegex(TypeError, "nothing would await it"):
            handle_webhook(headers_of(), BODY, SECRETS[0], receive)
