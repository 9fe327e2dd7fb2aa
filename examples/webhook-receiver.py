"""Receives webhooks of Quartermaster: verifies the signature, and keeps the last version of each record."""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
TOLERANCE_SECONDS = 300
BYTES_MAX = 1024 * 1024

# Your copy. Use a table of your database, and one transaction per message.
copy = {}


def apply(change):
    stored = copy.get(change["id"])
    # A retry may arrive after a newer message.
    if stored is not None and stored["version"] > change["version"]:
        return
    copy[change["id"]] = {"version": change["version"], "record": change.get("record")}
    print(f"{change['change']} {change['id']} at version {change['version']}", flush=True)


def is_genuine(headers, body):
    """Whether the message is from Quartermaster, unchanged and recent."""
    try:
        timestamp = int(headers["webhook-timestamp"])
    except (TypeError, ValueError):
        return False
    if abs(time.time() - timestamp) > TOLERANCE_SECONDS:
        return False
    signed = f"{headers['webhook-id']}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    # While a secret is rotated there are two signatures, separated by a space.
    received = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(one.encode(), expected.encode()) for one in received)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length", "0"))
        body = self.rfile.read(min(length, BYTES_MAX))
        if not is_genuine(self.headers, body):
            self.respond(401, b"")
            return
        data = json.loads(body)["data"]
        for change in data.get("changes", []):
            apply(change)
        # A challenge is returned; every other message needs only a status of 2xx.
        self.respond(200, data.get("challenge", "").encode())

    def respond(self, status, body):
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


print("waiting for messages", flush=True)
HTTPServer(("", int(os.environ.get("PORT", "4000"))), Receiver).serve_forever()
