"""How long to wait before a retry."""

from __future__ import annotations

import random
import time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from threading import Event
from typing import Optional

from . import _limits as limits


class Stopped(Exception):
    """The caller has set the event `stop`. No generator passes it on."""


def backoff_seconds(attempts: int, retry_after: float = 0.0) -> float:
    """
    Retry-After, plus a random time up to a bound that doubles with every attempt (exponential backoff with full jitter), so that
    clients which failed together do not retry together.
    """
    # The power of a long outage would be larger than any float.
    bound = min(limits.BACKOFF_SECONDS_MAX, limits.BACKOFF_FIRST_SECONDS * 2.0 ** min(attempts - 1, 16))
    return retry_after + random.random() * bound


def retry_after_of(header: Optional[str]) -> Optional[float]:
    """`Retry-After` in seconds: a number, or a date."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except (TypeError, ValueError, IndexError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=timezone.utc)
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())


def pause(seconds: float, stop: Optional[Event]) -> None:
    """Waits. Raises Stopped if the event is set first."""
    if stop is None:
        time.sleep(seconds)
    elif stop.wait(seconds):
        raise Stopped
