"""Any number of rows in batches of limited size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Generic, Iterable, List, Mapping, Optional, TypeVar

from . import _limits as limits
from ._errors import ConnectionFailed, UnexpectedResponse, error_of_problem
from ._json import dumps, loads

Row = TypeVar("Row", bound=Mapping[str, object])


@dataclass(frozen=True)
class UpsertTotals:
    """Numbers of rows. `read` is the sum of the others."""

    read: int = 0
    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    rejected: int = 0
    #: `external` if nobody had assigned ids before: from now on your system does, and Quartermaster assigns those from 2^32 on.
    ids_now: Optional[str] = None


@dataclass(frozen=True)
class RowFault:
    #: Empty if the fault is not in a single field.
    field: str
    reason: str
    #: The beginning of the value.
    value: str
    #: Why a valid row was not written: changed, record_unknown, record_exists, key_taken.
    code: Optional[str] = None


@dataclass(frozen=True)
class RejectedRow(RowFault, Generic[Row]):
    """A row that the service has not written."""

    row: Row = field(default_factory=dict)  # type: ignore[assignment]
    #: The number of rows before it.
    index: int = 0
    #: Of its record, if there is one.
    id: Optional[int] = None
    #: Further faults of the row.
    more: List[RowFault] = field(default_factory=list)


@dataclass(frozen=True)
class BatchReply:
    """The response to a batch: rejected rows with their lines in the request, and the totals."""

    rejected: List[Dict[str, Any]]
    totals: UpsertTotals


def upsert_rows(
    rows: Iterable[Row],
    send: Callable[[bytes], BatchReply],
    on_progress: Optional[Callable[[UpsertTotals], None]],
    on_rejected: Optional[Callable[[RejectedRow[Row]], None]],
) -> UpsertTotals:
    """
    Sends rows in requests of limited size, one after the other. A request is confirmed by its end marker. Until then its rows are in
    memory, and are sent again after a failure; rows that were written already are then unchanged.
    """
    totals = UpsertTotals()
    pending: List[Row] = []
    lines: List[bytes] = []
    size = 0

    def flush() -> None:
        nonlocal totals, size
        if not pending:
            return
        reply = send(b"".join(lines))
        for fault in reply.rejected:
            if on_rejected is not None:
                on_rejected(_rejected(fault, pending[fault["line"] - 1], totals.read + fault["line"] - 1))
        totals = _sum_of(totals, reply.totals)
        pending.clear()
        lines.clear()
        size = 0
        if on_progress is not None:
            on_progress(totals)

    for row in rows:
        line = dumps(row) + b"\n"
        pending.append(row)
        lines.append(line)
        size += len(line)
        if len(pending) >= limits.UPSERT_ROWS or size >= limits.UPSERT_BYTES:
            flush()
    flush()
    return totals


def _rejected(fault: Mapping[str, Any], row: Row, index: int) -> RejectedRow[Row]:
    more = [_fault(one) for one in fault.get("more", ())]
    first = _fault(fault)
    return RejectedRow(first.field, first.reason, first.value, first.code, row, index, fault.get("id"), more)


def _fault(sent: Mapping[str, Any]) -> RowFault:
    return RowFault(sent["field"], sent["reason"], sent["value"], sent.get("code"))


def _sum_of(one: UpsertTotals, other: UpsertTotals) -> UpsertTotals:
    return UpsertTotals(
        one.read + other.read,
        one.inserted + other.inserted,
        one.updated + other.updated,
        one.unchanged + other.unchanged,
        one.deleted + other.deleted,
        one.rejected + other.rejected,
        one.ids_now or other.ids_now,
    )


def batch_reply_of(body: bytes, request_id: Optional[str], parameters: Mapping[str, str]) -> BatchReply:
    """Parses the response. Raises an error that is retried if the response is truncated."""
    rejected: List[Dict[str, Any]] = []
    for line in body.split(b"\n")[:-1]:
        parsed = _parsed(line, request_id)
        if "$end" in parsed:
            end = parsed["$end"]
            counts = (int(end[name]) for name in ("read", "inserted", "updated", "unchanged", "deleted", "rejected"))
            read, inserted, updated, unchanged, deleted, faulty = counts
            return BatchReply(rejected, UpsertTotals(read, inserted, updated, unchanged, deleted, faulty, end.get("idsNow")))
        if "$error" in parsed:
            raise error_of_problem(parsed["$error"], parameters)
        rejected.append(parsed)
    raise ConnectionFailed("The response to the batch was truncated.", code="connection_failed", status=200, request_id=request_id)


def _parsed(line: bytes, request_id: Optional[str]) -> Dict[str, Any]:
    try:
        parsed = loads(line)
    except ValueError:
        parsed = None
    if isinstance(parsed, dict):
        return parsed
    message = "The response is not a batch of Quartermaster. Check base_url."
    raise UnexpectedResponse(message, code="response_unexpected", status=200, request_id=request_id)
