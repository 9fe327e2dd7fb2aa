"""Messages of webhooks, signed as Standard Webhooks says."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from inspect import isawaitable
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Protocol, Sequence, Union, cast

from . import _limits as limits
from ._errors import WebhookInvalid
from ._json import exact_all, loads
from ._wire import DECIMALS

#: The headers of a request: a mapping, such as `request.headers` of a framework, or pairs, such as `BaseHTTPRequestHandler.headers.items()`.
Headers = Union[Mapping[str, str], Iterable[Sequence[str]]]


class Readable(Protocol):
    """A body that has not been read yet, such as `BaseHTTPRequestHandler.rfile` or `wsgi.input`."""

    def read(self, size: int, /) -> bytes: ...


class WebhookResponse(NamedTuple):
    """What a receiver responds to a message."""

    status: int
    headers: Dict[str, str]
    body: bytes


def verify_webhook(
    headers: Headers,
    body: Union[bytes, bytearray, str],
    secrets: Union[str, Sequence[str]],
    *,
    tolerance: float = limits.WEBHOOK_TOLERANCE_SECONDS,
) -> Dict[str, Any]:
    """
    The event of a message, if it is from Quartermaster, unchanged and recent. Otherwise raises WebhookInvalid: respond with 401. Pass
    the body as it was received, because parsing and printing it changes its bytes. While a secret is rotated, pass both secrets.
    `tolerance`: the greatest difference between the clocks of service and receiver, in seconds.
    """
    keys = [_key_of(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise ValueError("Pass at least one secret.")
    if not isinstance(body, (bytes, bytearray, str)):
        raise TypeError("Pass the body as it was received: bytes or a text, not parsed.")
    content = body.encode() if isinstance(body, str) else bytes(body)
    message_id, timestamp, signatures = (_header_in(headers, f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    is_number = re.fullmatch(r"[0-9]{1,12}", timestamp) is not None
    if not is_number or abs(time.time() - int(timestamp)) > tolerance:
        raise WebhookInvalid(f"webhook-timestamp is not within {tolerance:g} s of now.")
    if not _is_signed(f"{message_id}.{timestamp}.".encode() + content, signatures, keys):
        raise WebhookInvalid("No signature in webhook-signature matches this webhook's secret.")
    return _event_in(content)


def handle_webhook(
    headers: Headers,
    body: Union[bytes, bytearray, str, Readable],
    secrets: Union[str, Sequence[str]],
    receive: Callable[[Dict[str, Any]], object],
    *,
    method: str = "POST",
    tolerance: float = limits.WEBHOOK_TOLERANCE_SECONDS,
) -> WebhookResponse:
    """
    Handles a request to a receiver, in any framework: verifies it, returns the challenge by which a webhook is activated, and calls
    `receive` with every other event. Send the response that it returns. If `receive` raises, so does this function: respond with a
    status of 5xx, as frameworks do, and the service sends the message again. `body`: as it was received, or a stream from which it
    is read, as long as `content-length` says; nothing larger than a message is read.
    """
    if method != "POST":
        return _response(405, headers={"allow": "POST"})
    if isinstance(body, (bytes, bytearray, str)):
        content: Union[bytes, bytearray, str] = body
    elif hasattr(body, "read"):
        length = _length_in(headers)
        if length is None:
            return _response(411)
        if length > limits.WEBHOOK_BYTES_MAX:
            return _response(413)
        content = _read(body, length)
    else:
        raise TypeError("Pass the body as it was received: bytes, a text or a stream, not parsed.")
    if len(content) > limits.WEBHOOK_BYTES_MAX:
        return _response(413)
    try:
        event = verify_webhook(headers, content, secrets, tolerance=tolerance)
    except WebhookInvalid as error:
        return _response(401, str(error))
    if event.get("type") == "webhook.challenge":
        return _response(200, str(event["data"]["challenge"]))
    result = receive(event)
    if isawaitable(result):
        getattr(result, "close", lambda: None)()
        raise TypeError("receive must not be a coroutine function: nothing would await it. Use verify_webhook, and await your function.")
    return _response(204)


def _response(status: int, text: str = "", headers: Optional[Mapping[str, str]] = None) -> WebhookResponse:
    body = text.encode()
    types = {"content-type": "text/plain; charset=utf-8"} if body else {}
    # RFC 9110: a 204 has no Content-Length.
    length = {} if status == 204 else {"content-length": str(len(body))}
    return WebhookResponse(status, {**(headers or {}), **types, **length}, body)


def _length_in(headers: Headers) -> Optional[int]:
    try:
        text = _header_in(headers, "content-length")
    except WebhookInvalid:
        return None
    return int(text) if re.fullmatch(r"[0-9]{1,12}", text) else None


def _read(stream: Readable, length: int) -> bytes:
    """A raw stream may return less than was asked for."""
    parts: List[bytes] = []
    while length > 0:
        part = stream.read(length)
        if not part:
            break
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _key_of(secret: str) -> bytes:
    # 24 to 64 bytes, says Standard Webhooks: a secret that was cut off would reject every message.
    found = re.fullmatch(r"whsec_([A-Za-z0-9+/]{30,88}={0,2})", secret)
    encoded = found.group(1) if found else ""
    if len(encoded) % 4 != 0 or len(encoded) < 32:
        raise ValueError("A secret is whsec_ and base64, as in the response that created the webhook.")
    return base64.b64decode(encoded, validate=True)


def _header_in(headers: Headers, name: str) -> str:
    """Names of headers may have capitals."""
    pairs = headers.items() if isinstance(headers, Mapping) or hasattr(headers, "items") else headers
    values: List[Any] = [value for key, value in cast("Iterable[Sequence[str]]", pairs) if key.lower() == name]
    if len(values) == 1 and isinstance(values[0], str) and values[0] != "":
        return values[0]
    raise WebhookInvalid(f"The header {name} is missing, or repeated.")


def _is_signed(signed: bytes, signatures: str, keys: Sequence[bytes]) -> bool:
    """Compares in constant time. Every secret is tried with every signature, whichever is right."""
    received = signatures.split(" ")
    if len(received) > limits.WEBHOOK_SIGNATURES_MAX:
        raise WebhookInvalid(f"webhook-signature has more than {limits.WEBHOOK_SIGNATURES_MAX} signatures.")
    expected = [b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    # Signatures of other versions are by other keys, such as asymmetric ones: they equal none.
    matches = [hmac.compare_digest(one, other.encode("utf-8", "replace")) for one in expected for other in received]
    return any(matches)


def _event_in(content: bytes) -> Dict[str, Any]:
    try:
        event = loads(content)
    except ValueError as cause:
        raise WebhookInvalid("The body is signed, but it is not JSON.") from cause
    data = event.get("data") if isinstance(event, dict) else None
    if isinstance(data, dict):
        changes = data.get("changes") or []
        exact_all((change["record"] for change in changes if "record" in change), DECIMALS["product"])
    return cast("Dict[str, Any]", event)
