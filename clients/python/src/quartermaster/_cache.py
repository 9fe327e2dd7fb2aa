"""A cache of responses by ETag."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import NamedTuple, Optional, Protocol

from . import _limits as limits


class CacheEntry(NamedTuple):
    """A cached response: its body, and the ETag by which the service decides whether it is still current."""

    etag: str
    body: bytes


class Cache(Protocol):
    """
    Stores responses. Every request is sent with the ETag of its cached response, and the cached body is used only after a 304. So a
    cached response is never stale, and a cache may drop entries at any time. Its methods are called by several threads.
    """

    def get(self, key: str) -> Optional[CacheEntry]: ...

    def set(self, key: str, entry: CacheEntry) -> None: ...


class MemoryCache:
    """A cache in memory, with least-recently-used eviction."""

    def __init__(self, *, bytes_max: int = limits.CACHE_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._entries: OrderedDict[str, CacheEntry] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Optional[CacheEntry]:
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
            return entry

    def set(self, key: str, entry: CacheEntry) -> None:
        with self._lock:
            self._drop(key)
            if _size(key, entry) > self._bytes_max:
                return
            self._entries[key] = entry
            self._bytes += _size(key, entry)
            while self._bytes > self._bytes_max:
                self._drop(next(iter(self._entries)))

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= _size(key, entry)


def _size(key: str, entry: CacheEntry) -> int:
    return len(key) + len(entry.etag) + len(entry.body)
