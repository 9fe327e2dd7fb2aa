"""The change feed: what was created, updated and deleted since a cursor."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event
from typing import Any, Callable, Dict, Generic, Iterator, Mapping, Optional, TypeVar

from . import _limits as limits
from ._backoff import Stopped, backoff_seconds, pause
from ._errors import ConnectionFailed, QuartermasterError, QueryTooSlow, RateLimited, TimedOut, Unavailable

R = TypeVar("R", bound=Mapping[str, Any])
T = TypeVar("T")

#: Requests one page, with the cursor and the seconds to wait.
FetchChanges = Callable[[Optional[str], int], Dict[str, Any]]


@dataclass(frozen=True)
class Change(Generic[R]):
    """A change of a record. Only the last state of a record is sent, not the ones in between."""

    #: `created` and `updated`: insert or replace the record. `deleted`, or `removed` (it no longer matches the filter): delete it, if you have it.
    change: str
    #: The id of the record.
    id: int
    #: The version of the resource that this change created. Several records can be written by one version.
    version: int
    #: The record as it is now; None if it was deleted or removed.
    record: Optional[R]
    #: Of the record. Pass it as `if_match` to change the record only if no one else has changed it since.
    etag: Optional[str]
    #: Pass it as `since` to continue after this change. Until the last change of a page, this is the cursor before the page, so that
    #: after an interruption you may receive a change again, but never miss one. None on the first page from the beginning.
    cursor: Optional[str]
    #: Who deleted the record, if `fields` names `changed_by`; None if it is not known.
    deleted_by: Optional[str] = None
    #: Only with `deleted`: the record was erased. Remove its values from logs, backups and copies, too.
    erased: bool = False


class Changes(Generic[R]):
    """
    The changes since a cursor, until there are no more. When the loop has ended, `cursor` is where to continue; before, it is the
    cursor of the last change.
    """

    def __init__(self, fetch_page: FetchChanges, since: Optional[str], wait: int) -> None:
        self.cursor: Optional[str] = None if since == "now" else since
        self._changes = self._all(fetch_page, since, wait)

    def __iter__(self) -> Iterator[Change[R]]:
        return self

    def __next__(self) -> Change[R]:
        return next(self._changes)

    def _all(self, fetch_page: FetchChanges, since: Optional[str], wait: int) -> Iterator[Change[R]]:
        if since == "now":
            self.cursor = _now(fetch_page)
        waiting = wait
        while True:
            before = self.cursor
            page = fetch_page(before, waiting)
            for change in changes_in(page, before):
                self.cursor = change.cursor
                yield change
            self.cursor = page["cursor"]
            # With a filter a page can be empty before the end: the service examines a limited number of records.
            if not page["meta"]["more"]:
                return
            waiting = 0


def watch_changes(fetch_page: FetchChanges, since: str, stop: Optional[Event]) -> Iterator[Change[R]]:
    """Yields changes as they are written, until `stop` is set. Continues after every temporary failure."""
    try:
        cursor = persistently(lambda: _now(fetch_page), stop) if since == "now" else since
        while True:
            before = cursor
            page = persistently(lambda: fetch_page(before, limits.WAIT_SECONDS), stop)
            yield from changes_in(page, before)
            cursor = page["cursor"]
    except Stopped:
        return


def _now(fetch_page: FetchChanges) -> str:
    """The cursor of `now`: the first changes after it need one to which a client can return."""
    return str(fetch_page("now", 0)["cursor"])


def changes_in(page: Dict[str, Any], before: Optional[str]) -> Iterator[Change[Any]]:
    last = len(page["data"]) - 1
    for at, sent in enumerate(page["data"]):
        cursor = page["cursor"] if at == last else before
        record, etag = sent.get("record"), sent.get("etag")
        gone = {"deleted_by": sent.get("deleted_by"), "erased": sent.get("erased", False)}
        yield Change(sent["change"], sent["id"], sent["version"], record, etag, cursor, **gone)


def persistently(send: Callable[[], T], stop: Optional[Event]) -> T:
    """Repeats a request until it succeeds. The sender has already retried it for `retry_for` seconds."""
    attempts = 0
    while True:
        attempts += 1
        try:
            return send()
        except QuartermasterError as error:
            if not _is_temporary(error):
                raise
        pause(backoff_seconds(attempts), stop)


def _is_temporary(error: QuartermasterError) -> bool:
    if isinstance(error, ConnectionFailed):
        return error.code == "connection_failed"
    if isinstance(error, QueryTooSlow):
        return error.code == "proxy_timeout"
    return isinstance(error, (TimedOut, Unavailable, RateLimited))
