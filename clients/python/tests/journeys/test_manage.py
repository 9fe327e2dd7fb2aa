"""What an administrator does: keys, webhooks with a receiver over HTTPS, and logs."""

import base64
import http.server
import io
import ssl
import threading
import unittest
from typing import Any, Dict, List, Tuple

from quartermaster import (
    Conflict,
    ConnectionFailed,
    NotFound,
    Quartermaster,
    RequestInvalid,
    Unauthenticated,
    WebhookInvalid,
    field,
    handle_webhook,
    verify_webhook,
)

from .service import RECEIVER, eventually, service


class Keys(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.account = service().account()
        cls.manage = Quartermaster(cls.account.url, cls.account.key).manage
        cls.lost = cls.account.proxy.lost

    def test_are_created_listed_rotated_and_revoked(self) -> None:
        keys = self.manage.keys
        created = keys.create(name="web shop", scopes=["product:read"], expires_at="2099-01-01")
        self.assertEqual((created["name"], created["scopes"], created["state"]), ("web shop", ["product:read"], "active"))
        shop = Quartermaster(self.account.url, created["key"])
        self.assertEqual(shop.products.list().total, 0)
        rotated = keys.rotate(created["key_id"], overlap_seconds=0)
        # As long a time from now as the old one had from its creation.
        self.assertRegex(str(rotated["expires_at"]), "^2099-01-01T")
        with self.assertRaises(Unauthenticated):
            shop.products.list()
        old = keys.get(created["key_id"])
        self.assertEqual((old["state"], old["rotated_to"]), ("revoked", rotated["key_id"]))
        for _ in range(2):
            self.assertEqual(keys.revoke(rotated["key_id"])["state"], "revoked")
        # The service records the use of a key after the response.
        used = (field.name == "web shop") & field.scopes.contains("product:read") & (field.last_used_on != None)  # noqa: E711
        wanted = [{"key_id": created["key_id"], "state": "revoked"}]
        eventually(lambda: keys.list(fields=["key_id", "state"], filter=used).data == wanted)
        with self.assertRaises(NotFound):
            keys.get("unknown1")
        with self.assertRaises(RequestInvalid):
            keys.create(name="", scopes=[])

    def test_are_created_and_rotated_once_although_responses_are_lost(self) -> None:
        keys = self.manage.keys
        before = keys.list(limit=1).total
        self.lost["/manage/v1/keys"] = 1
        with self.assertRaises(Conflict) as caught:
            keys.create(name="lost", scopes=["product:read"])
        self.assertEqual(caught.exception.code, "key_already_created")
        (entry,) = keys.list(filter="name=lost")
        self.lost[f"/manage/v1/keys/{entry['key_id']}/rotate"] = 1
        with self.assertRaises(Conflict) as caught:
            keys.rotate(entry["key_id"], overlap_seconds=60)
        self.assertEqual((caught.exception.code, keys.list(limit=1).total), ("key_not_active", before + 2))

    def test_changes_of_the_account_requests_and_usage_are_listed(self) -> None:
        created = self.manage.keys.create(name="logged", scopes=["product:read"])
        (entry,) = self.manage.audit.list(filter=field.subject == created["key_id"])
        self.assertEqual((entry["action"], entry["actor"]), ("key.create", "key"))
        self.assertIn("quartermaster-python/", str(entry["application"]))
        logged = {"method": "GET", "path": "/manage/v1/audit", "status": 200}
        successes = (field.path == "/manage/v1/audit") & (field.status < 300)
        eventually(lambda: logged in self.manage.requests.list(fields=["method", "path", "status"], filter=successes).data)
        per_day = field.route == "POST /manage/v1/keys"
        eventually(lambda: self.manage.usage.list(filter=per_day).total > 0 and self.manage.usage.list(per="minute", limit=1).total > 0)
        with self.assertRaises(RequestInvalid):
            self.manage.usage.list(per="hour")


class Webhooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.account = service().account("external")
        cls.qm = Quartermaster(cls.account.url, cls.account.key)
        cls.receiver = Receiver()

    def tearDown(self) -> None:
        for webhook in self.qm.manage.webhooks.list(fields=["id"]):
            self.qm.manage.webhooks.delete(webhook["id"])

    def test_are_created_activated_delivered_replayed_rotated_paused_changed_and_deleted(self) -> None:
        webhooks, receiver = self.qm.manage.webhooks, self.receiver
        created = webhooks.create({"resource": "product", "url": receiver.url, "filter": "active=true", "fields": ["id", "name", "list_price"]})
        one = created["id"]
        self.assertEqual((created["status"], created["fields"]), ("pending", ["id", "name", "list_price"]))
        # The receiver does not know the secret yet.
        receiver.secrets = [f"whsec_{base64.b64encode(bytes(32)).decode()}"]
        with self.assertRaises(Conflict) as caught:
            webhooks.activate(one)
        self.assertEqual((caught.exception.code, receiver.statuses), ("webhook_unverified", [401]))
        receiver.secrets = [created["secret"]]
        self.assertEqual(webhooks.activate(one)["status"], "active")

        self.qm.products.upsert([{"id": 1, "name": "one"}, {"id": 2, "name": "Größe 2", "list_price": "0.50"}])
        eventually(lambda: {1, 2} <= {change["id"] for change in receiver.changes()})
        self.qm.products.delete(1)
        eventually(lambda: ("deleted", 1) in [(change["change"], change["id"]) for change in receiver.changes()])
        (record,) = [change["record"] for change in receiver.changes() if change["id"] == 2]
        self.assertEqual((record["name"], str(record["list_price"]), set(record)), ("Größe 2", "0.5", {"id", "name", "list_price"}))

        rotated = webhooks.rotate(one)
        for known in ([created["secret"]], [rotated["secret"]], [rotated["secret"], created["secret"]]):
            receiver.secrets = known
            tested = webhooks.test(one)
            self.assertEqual((tested["status"], tested["error"]), (204, None))
        headers, body = receiver.messages[-1]
        self.assertEqual(verify_webhook(headers, body, rotated["secret"])["data"]["webhook"], one)
        with self.assertRaises(WebhookInvalid):
            verify_webhook(headers, body + b" ", rotated["secret"])

        receiver.events.clear()
        webhooks.replay(one, since="beginning")
        eventually(lambda: [change["id"] for change in receiver.changes()] == [2])
        paused = webhooks.pause(one)
        self.assertEqual((paused["status"], paused["reason"]), ("paused", "requested"))
        self.assertIsNone(webhooks.change(one, {"filter": None})["filter"])
        self.assertEqual(webhooks.get(one, fields=["filter"]), {"filter": None})
        self.assertEqual([entry["id"] for entry in webhooks.list(filter=field.status == "paused")], [one])
        failed = self.qm.manage.deliveries.list(filter=(field.webhook_id == one) & (field.error != None))  # noqa: E711
        self.assertEqual([(entry["kind"], entry["status"]) for entry in failed], [("challenge", 401)])
        webhooks.delete(one)
        with self.assertRaises(NotFound):
            webhooks.get(one)

    def test_are_created_rotated_and_deleted_at_most_once_although_responses_are_lost(self) -> None:
        webhooks, lost = self.qm.manage.webhooks, self.account.proxy.lost
        before = self.qm.manage.audit.list(filter="action=webhook.rotate").total
        lost["/manage/v1/webhooks"] = 1
        with self.assertRaises(ConnectionFailed):
            webhooks.create({"resource": "partner", "url": self.receiver.url})
        (entry,) = webhooks.list()
        lost[f"/manage/v1/webhooks/{entry['id']}/rotate"] = 1
        with self.assertRaises(ConnectionFailed):
            webhooks.rotate(entry["id"])
        self.assertEqual(self.qm.manage.audit.list(filter="action=webhook.rotate").total, before + 1)
        lost[f"/manage/v1/webhooks/{entry['id']}"] = 1
        with self.assertRaises(ConnectionFailed):
            webhooks.delete(entry["id"])
        with self.assertRaises(NotFound):
            webhooks.delete(entry["id"])
        self.assertEqual(+lost, {})


class Receiver:
    """The client handles every message; events and requests are stored."""

    def __init__(self) -> None:
        self.secrets: List[str] = []
        self.events: List[Dict[str, Any]] = []
        self.messages: List[Tuple[List[Tuple[str, str]], bytes]] = []
        self.statuses: List[int] = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.messages.append((list(self.headers.items()), body))
                response = handle_webhook(self.headers, io.BytesIO(body), receiver.secrets, receiver.events.append)
                receiver.statuses.append(response.status)
                self.send_response(response.status)
                for name, value in response.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(response.body)

            def log_message(self, *_: object) -> None:
                pass

        server = http.server.ThreadingHTTPServer((RECEIVER, 0), Handler)
        server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(service().certificate, service().folder / "receiver.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        self.url = f"https://{RECEIVER}:{server.server_address[1]}/"
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

    def changes(self) -> List[Dict[str, Any]]:
        return [change for event in list(self.events) for change in event["data"].get("changes", [])]
