"""Messages of webhooks, signed as Standard Webhooks says."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from typing import Any, Dict, Iterable, List, Mapping, Sequence, Union, cast

from . import _limits as limits
from ._errors import WebhookInvalid
from ._json import exact_all, loads
from ._wire import DECIMALS

#: The headers of a request: a mapping, such as `request.headers` of a framework, or pairs, such as `BaseHTTPRequestHandler.headers.items()`.
Headers = Union[Mapping[str, str], Iterable[Sequence[str]]]


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
