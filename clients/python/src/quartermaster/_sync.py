"""A copy that stays in step, by mark and sweep."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from threading import Event
from typing import Any, Generic, Iterator, List, Mapping, Optional, Tuple, TypedDict, TypeVar, Union, cast

from . import _limits as limits
from ._backoff import Stopped
from ._changes import FetchChanges, persistently
from ._errors import CursorExpired

R = TypeVar("R", bound=Mapping[str, Any])


class SyncState(TypedDict):
    """
    How far a copy is. Plain data: store it, such as `json.dumps(state)` in a column, in the transaction that applies its batch, and
    pass it as `since` to continue.
    """

    #: The mark of every record that is inserted or replaced. A new walk through all records has a new mark.
    walk: str
    #: Whether the walk has not seen all records yet.
    is_walking: bool
    #: The position in the feed of changes.
    cursor: str


@dataclass(frozen=True)
class SyncBatch(Generic[R]):
    """Changes to apply to a copy in one transaction: delete, insert or replace, sweep, store the state."""

    #: The ids of records to delete, if the copy has them.
    deleted: List[int]
    #: Insert or replace each with the mark `state["walk"]`.
    upserted: List[R]
    #: The walk has seen every record: now delete all records of the copy with another mark.
    sweep: bool
    state: SyncState


#: The mark, whether the walk is not complete, and the cursor. Before the first page of a walk there is no cursor.
_Position = Tuple[str, bool, Optional[str]]


def sync_batches(fetch_page: FetchChanges, since: Union[SyncState, str, None], stop: Optional[Event]) -> Iterator[SyncBatch[R]]:
    """
    Yields every record, unless `since` continues a copy, and then the changes, until `stop` is set. If changes may be missing it walks
    through all records again: the copy keeps what it has until the walk has seen everything. Then what it has not seen is gone.
    """
    position = _position_of(since)
    while True:
        try:
            batches: Iterator[SyncBatch[R]] = _batches_after(fetch_page, position, stop)
            yield from batches
        except CursorExpired:
            position = _new_walk()
        except Stopped:
            return


def _batches_after(fetch_page: FetchChanges, position: _Position, stop: Optional[Event]) -> Iterator[SyncBatch[R]]:
    walk, is_walking, cursor = position
    while True:
        since, wait = cursor, 0 if is_walking else limits.WAIT_SECONDS
        page = persistently(lambda: fetch_page(since, wait), stop)
        deleted: List[int] = []
        upserted: List[R] = []
        for change in page["data"]:
            # A page is one snapshot: if a record is part of it, each deletion of its id was earlier.
            if "record" in change:
                upserted.append(change["record"])
            else:
                deleted.append(change["id"])
        more = bool(page["meta"]["more"])
        # The end of the feed is one snapshot. Every record in it was sent at its version, so nothing that exists is swept.
        sweep = is_walking and not more
        is_walking = is_walking and more
        cursor = str(page["cursor"])
        # With a filter the cursor can move without a change.
        if sweep or cursor != since:
            yield SyncBatch(deleted, upserted, sweep, {"walk": walk, "is_walking": is_walking, "cursor": cursor})


def _position_of(since: Union[SyncState, str, None]) -> _Position:
    """A cursor continues a copy that was made by `changes` or `export`: none of its records has the mark of a walk."""
    if since is None:
        return _new_walk()
    if isinstance(since, str):
        return _new_mark(), False, since
    # It was stored as JSON: a wrong column must not mark records with "None".
    if isinstance(since, Mapping):
        walk, is_walking, cursor = (cast("Mapping[str, Any]", since).get(name) for name in ("walk", "is_walking", "cursor"))
        if isinstance(walk, str) and isinstance(is_walking, bool) and isinstance(cursor, str):
            return walk, is_walking, cursor
    raise TypeError("since must be the state of a batch of sync, a cursor, or None for a new copy.")


def _new_walk() -> _Position:
    return _new_mark(), True, None


def _new_mark() -> str:
    """Random, not counted: a copy whose state was lost has records with older marks, which a new walk must not repeat."""
    return secrets.token_hex(limits.WALK_BYTES)
