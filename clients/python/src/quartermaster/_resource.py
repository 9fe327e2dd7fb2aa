"""The calls that products, partners and companies have in common."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, replace
from threading import Event
from typing import (
    AbstractSet,
    Any,
    Callable,
    Dict,
    Generic,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Type,
    TypeVar,
    Union,
    cast,
)
from urllib.parse import quote

from . import _limits as limits
from ._changes import Change, Changes, FetchChanges, watch_changes
from ._errors import UnexpectedResponse
from ._export import Export
from ._filter import Condition
from ._iterate import PagePosition, RecordPage, iterate
from ._json import Record, dumps, exact, exact_all
from ._own_fields import decimals_in
from ._sender import JSON, NDJSON, Call, Reply, Sender, list_call
from ._summary import Summary, groups_of, joined
from ._sync import SyncBatch, SyncState, sync_batches
from ._transport import Exchange
from ._upsert import BatchReply, RejectedRow, Row, UpsertTotals, batch_reply_of, upsert_rows

R = TypeVar("R", bound=Mapping[str, Any])
S = TypeVar("S", bound=Mapping[str, Any])

#: A record: its id, or a unique field with its value, such as `{"x_sku": "4711"}`.
Address = Union[int, Mapping[str, Union[str, int]]]
#: A filter: a text in the filter language, or a condition built from `field`.
Filter = Union[str, Condition]
#: The ETag of a record, or the record as `get`, `update`, `put` or `adjust` has returned it.
IfMatch = Union[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Page(Generic[R]):
    """One page of a list. Iterating over it yields its records."""

    data: List[R]
    #: Records in this page.
    count: int
    #: The exact number of records that match.
    total: int
    #: The page returned.
    page: int
    #: None on the first page. Beyond the last page: the last page.
    previous_page: Optional[int]
    #: None on the last page and beyond it.
    next_page: Optional[int]
    #: `total` divided by the limit, rounded up.
    total_pages: int
    #: Changes with every write to this resource of the account: equal versions mean equal data. None in lists of `manage`.
    version: Optional[str]
    request_id: Optional[str]

    def __iter__(self) -> Iterator[R]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


class Resource(Generic[R]):
    """Products, partners or companies. R: the type of a record."""

    def __init__(self, sender: Sender, path: str, decimals: AbstractSet[str]) -> None:
        self._sender = sender
        self._path = path
        self._decimals = decimals

    def typed(self, record: Type[S]) -> Resource[S]:
        """
        The same resource with the fields that the account has declared: a TypedDict that extends `Product`, `Partner` or `Company`.
        Fields that it declares as Decimal are Decimal in every record.
        """
        return Resource(self._sender, self._path, self._decimals | decimals_in(record))

    def list(
        self,
        *,
        fields: Optional[Sequence[str]] = None,
        filter: Optional[Filter] = None,
        search: Optional[str] = None,
        sort: Optional[str] = None,
        page: Optional[int] = None,
        limit: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> Page[R]:
        """
        One page of the matching records and the total. `search`: words that must each occur in a text field. `sort`: a field, with `-`
        before it for descending order; by default the id.
        """
        parameters = {
            "fields": names_of(fields),
            "filter": text_of(filter),
            "search": search,
            "sort": sort,
            "page": page,
            "limit": limit,
        }
        call = list_call(self._path, parameters, timeout=timeout)
        return page_of(self._sender.send(replace(call, cached=True)), self._decimals)

    def all(
        self,
        *,
        fields: Optional[Sequence[str]] = None,
        filter: Optional[Filter] = None,
        limit: int = limits.ITERATION_PAGE_RECORDS,
        timeout: Optional[float] = None,
    ) -> Iterator[R]:
        """Every matching record exactly once, ordered by id, even while others write. `limit` is the number of records per page."""
        # Iteration needs the ids: if the caller does not request them, they are requested and removed again.
        is_id_extra = names_of(fields) is not None and "id" not in (fields or ())
        names = names_of([*(fields or ()), "id"] if is_id_extra else fields)
        text = text_of(filter)

        def fetch_page(position: PagePosition) -> RecordPage:
            # The id bounds are separate parameters: combining them with the filter could change its meaning or exceed its limits.
            bounds = {"after_id": position.after, "max_id": position.up_to, "page": position.page}
            call = list_call(self._path, {"fields": names, "filter": text, **bounds, "limit": limit}, timeout=timeout)
            got: Page[Any] = page_of(self._sender.send(call), self._decimals)
            return RecordPage(got.data, got.next_page is None, got.version)

        def records() -> Iterator[R]:
            for record in iterate(fetch_page):
                if is_id_extra:
                    del record["id"]
                yield cast(R, record)

        return records()

    def get(self, address: Address, *, fields: Optional[Sequence[str]] = None, timeout: Optional[float] = None) -> R:
        """One record, by its id or by a unique field: `get({"x_sku": "4711"})`. Raises NotFound if there is none."""
        call = list_call(f"{self._path}/{_path_of(address)}", {"fields": names_of(fields)}, timeout=timeout)
        return self._record(self._sender.send(replace(call, cached=True)))

    def summary(
        self,
        *,
        filter: Optional[Filter] = None,
        group: Optional[Sequence[str]] = None,
        sum: Optional[Sequence[str]] = None,
        min: Optional[Sequence[str]] = None,
        max: Optional[Sequence[str]] = None,
        avg: Optional[Sequence[str]] = None,
        timeout: Optional[float] = None,
    ) -> Summary:
        """
        The number of matching records, in groups of equal values, with sums, minima, maxima and averages of other fields: exact, and
        from one snapshot. `group`: up to two fields, timestamps with a unit, such as `create_date:month`. Without it, all records are
        one group. `summary(group=["categ_id"], sum=["qty_available"])`
        """
        parameters = {"filter": text_of(filter), **joined({"group": group, "sum": sum, "min": min, "max": max, "avg": avg})}
        call = list_call(f"{self._path}/summary", parameters, timeout=timeout)
        reply = self._sender.send(replace(call, cached=True))
        body = reply.json()
        return Summary(
            groups=groups_of(body["data"], self._decimals),
            total=body["meta"]["total"],
            version=_version_of(reply.etag),
            request_id=reply.request_id,
        )

    def export(self, *, fields: Optional[Sequence[str]] = None, filter: Optional[Filter] = None, timeout: Optional[float] = None) -> Export[R]:
        """
        Every matching record from one snapshot, in one response. Faster than `all`, but if the connection breaks it raises
        StreamTruncated and must be started again.
        """
        parameters = {"fields": names_of(fields), "filter": text_of(filter)}
        call = list_call(self._path, parameters, accept=NDJSON, timeout=timeout)
        seconds = self._sender.timeout_of(call)
        return self._sender.read(call, lambda exchange: Export(exchange, seconds, self._decimals))

    def changes(
        self,
        *,
        since: Optional[str] = None,
        wait: int = 0,
        fields: Optional[Sequence[str]] = None,
        filter: Optional[Filter] = None,
        limit: int = limits.CHANGES_PAGE_RECORDS,
        timeout: Optional[float] = None,
    ) -> Changes[R]:
        """
        The changes since a cursor: every record if there is none, the changes from now on if it is `now`. Ends when there are no more;
        its `cursor` is then where to continue. `wait`: seconds to wait for the first change, 0 to 30. Raises CursorExpired if changes
        may be missing.
        """
        return Changes(self._fetch_changes(fields, filter, limit, timeout, None), since, wait)

    def watch(
        self,
        *,
        since: str = "now",
        fields: Optional[Sequence[str]] = None,
        filter: Optional[Filter] = None,
        limit: int = limits.CHANGES_PAGE_RECORDS,
        timeout: Optional[float] = None,
        stop: Optional[Event] = None,
    ) -> Iterator[Change[R]]:
        """
        Changes as they are written, without an end: from now on, or since a cursor. Resumes by itself after restarts and failures. If
        the event `stop` is set, it ends after the request in flight, which takes up to 25 seconds. Raises CursorExpired if changes may
        be missing.
        """
        return watch_changes(self._fetch_changes(fields, filter, limit, timeout, stop), since, stop)

    def sync(
        self,
        *,
        since: Union[SyncState, str, None] = None,
        fields: Optional[Sequence[str]] = None,
        filter: Optional[Filter] = None,
        limit: int = limits.CHANGES_PAGE_RECORDS,
        timeout: Optional[float] = None,
        stop: Optional[Event] = None,
    ) -> Iterator[SyncBatch[R]]:
        """
        Keeps a copy in step, without an end. Yields batches, each for one transaction: first every record, then every change. With
        `since`, the state that was stored with the last batch, only what follows it. Resumes by itself. If changes may be missing, it
        walks through all records again, and the copy stays complete meanwhile: records are marked, and what has no mark at the end is
        swept. If the event `stop` is set, it ends after the request in flight, which takes up to 25 seconds.
        """
        if fields is not None and "id" not in fields:
            raise ValueError("fields must include id, because a copy needs it.")
        return sync_batches(self._fetch_changes(fields, filter, limit, timeout, stop), since, stop)

    def create(self, record: Mapping[str, object], *, idempotency_key: Optional[str] = None, timeout: Optional[float] = None) -> int:
        """
        Creates a record, and returns its id: exactly one, even if the request is retried. The same `idempotency_key` and fields create
        one record, however often they are sent within 24 hours. By default each call generates a key, which makes its retries safe.
        Pass your own, such as an order number, to be safe across restarts of your program.
        """
        reply = self._write("POST", "", record, None, idempotency_key, timeout)
        body = reply.json()
        # Both response bodies of the specification: {"data":{"id":123}} and 123.
        record_id = (body.get("data") or {}).get("id") if isinstance(body, dict) else body
        if isinstance(record_id, int) and not isinstance(record_id, bool):
            return record_id
        message = "The response to the create has no id."
        raise UnexpectedResponse(message, code="response_unexpected", status=201, request_id=reply.request_id)

    def update(
        self,
        address: Address,
        patch: Mapping[str, object],
        *,
        if_match: Optional[IfMatch] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> R:
        """
        Changes fields of a record: those of `patch`; None clears a field. Returns the complete record. Raises NotFound if no record has
        this id, and PreconditionFailed if none has this unique value, or if it has changed since `if_match`.
        """
        # By a unique field, a PATCH without a condition creates a record that does not exist.
        condition = "*" if if_match is None and not isinstance(address, int) else if_match
        return self._record(self._write("PATCH", f"/{_path_of(address)}", patch, condition, idempotency_key, timeout))

    def put(
        self,
        key: Mapping[str, Union[str, int]],
        record: Mapping[str, object],
        *,
        if_match: Optional[IfMatch] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> R:
        """
        Changes the record with this value of a unique field, or creates it: `put({"x_sku": "4711"}, {"name": "Bolt"})`. Returns the
        complete record. However many programs send the same value, it is one record.
        """
        if isinstance(key, int):
            raise TypeError("put() takes a unique field with its value. By id, use update().")
        return self._record(self._write("PATCH", f"/{_path_of(key)}", record, if_match, idempotency_key, timeout))

    def adjust(
        self,
        address: Address,
        adjustment: Mapping[str, object],
        *,
        if_match: Optional[IfMatch] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> R:
        """
        Adds to numbers of a record, such as `{"qty_available": -3}`, whatever others write at the same time. Retries of a call count
        once. Returns the complete record.
        """
        path = f"/{_path_of(address)}/adjust"
        return self._record(self._write("POST", path, adjustment, if_match, idempotency_key, timeout))

    def delete(
        self,
        address: Address,
        *,
        if_match: Optional[IfMatch] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> None:
        """Deletes a record. Raises NotFound if there is none."""
        self._write("DELETE", f"/{_path_of(address)}", None, if_match, idempotency_key, timeout)

    def upsert(
        self,
        rows: Iterable[Row],
        *,
        key: Optional[str] = None,
        mode: Optional[str] = None,
        on_progress: Optional[Callable[[UpsertTotals], None]] = None,
        on_rejected: Optional[Callable[[RejectedRow[Row]], None]] = None,
        timeout: float = limits.UPSERT_ATTEMPT_SECONDS,
    ) -> UpsertTotals:
        """
        Inserts, changes and deletes any number of records by their ids, or with `key` by a unique field. `rows` is any iterable, of
        which only one batch is in memory. A row `{"$delete": id}` deletes. Sends batches one after the other, and sends a batch again
        if it was not confirmed. Rows that the service rejects are passed to `on_rejected` one by one; the others are written.

        `mode="update"` changes and deletes only records that exist, and rejects a row with an unknown id. It is needed for records
        whose ids Quartermaster assigned, except those from 2^32 on. `mode="insert"` changes no record that exists.
        """
        parameters = {name: value for name, value in (("key", key), ("mode", mode)) if value is not None}
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in parameters.items())
        path = f"{self._path}/batch{'?' if query else ''}{query}"
        headers = {"accept": NDJSON, "content-type": NDJSON}

        def read(exchange: Exchange) -> BatchReply:
            return batch_reply_of(exchange.read(), exchange.header("x-request-id"), parameters)

        def send(body: bytes) -> BatchReply:
            return self._sender.read(Call("POST", path, headers, body, parameters, timeout), read)

        return upsert_rows(rows, send, on_progress, on_rejected)

    def etag_of(self, record: Mapping[str, Any]) -> Optional[str]:
        """The ETag of a record that `get`, `update`, `put` or `adjust` has returned."""
        return record.etag if isinstance(record, Record) else None

    def _fetch_changes(
        self,
        fields: Optional[Sequence[str]],
        filter: Optional[Filter],
        limit: int,
        timeout: Optional[float],
        stop: Optional[Event],
    ) -> FetchChanges:
        query = {"fields": names_of(fields), "filter": text_of(filter), "limit": limit}

        def fetch(since: Optional[str], wait: int) -> Dict[str, Any]:
            parameters = {**query, "since": since, "wait": wait or None}
            call = list_call(f"{self._path}/changes", parameters, timeout=timeout, stop=stop)
            body = self._sender.send(replace(call, wait=float(wait))).json()
            exact_all((change["record"] for change in body["data"] if "record" in change), self._decimals)
            return cast("Dict[str, Any]", body)

        return fetch

    def _write(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, object]],
        if_match: Optional[IfMatch],
        idempotency_key: Optional[str],
        timeout: Optional[float],
    ) -> Reply:
        headers = {"accept": JSON, "idempotency-key": idempotency_key or new_key()}
        if body is not None:
            headers["content-type"] = JSON
        if if_match is not None:
            etag = if_match if isinstance(if_match, str) else self.etag_of(if_match)
            if etag is None:
                raise TypeError("if_match must be an ETag, or a record as get or update has returned it.")
            headers["if-match"] = etag
        return self._sender.send(Call(method, self._path + path, headers, None if body is None else dumps(body), timeout=timeout))

    def _record(self, reply: Reply) -> R:
        record = Record(exact(reply.json()["data"], self._decimals))
        record.etag = reply.etag
        return cast(R, record)


def new_key() -> str:
    return secrets.token_hex(limits.IDEMPOTENCY_KEY_BYTES)


def names_of(fields: Optional[Sequence[str]]) -> Optional[str]:
    if fields is None:
        return None
    if isinstance(fields, str):
        raise TypeError(f"fields is a list of names: fields=[{fields!r}].")
    if not fields:
        raise ValueError("fields is empty. Leave it out to get all fields.")
    return ",".join(fields)


def text_of(filter: Optional[Filter]) -> Optional[str]:
    if filter is None or isinstance(filter, (str, Condition)):
        return None if filter is None else str(filter)
    raise TypeError(f"filter is {filter!r}; it must be a text, or a condition such as field.id > 10.")


def page_of(reply: Reply, decimals: AbstractSet[str]) -> Page[Any]:
    body = reply.json()
    exact_all(body["data"], decimals)
    meta, pagination = body["meta"], body["pagination"]
    return Page(
        data=body["data"],
        count=meta["count"],
        total=meta["total"],
        page=pagination["currentPage"],
        previous_page=pagination["previousPage"],
        next_page=pagination["nextPage"],
        total_pages=pagination["totalPages"],
        version=_version_of(reply.etag),
        request_id=reply.request_id,
    )


def _version_of(etag: Optional[str]) -> Optional[str]:
    """An ETag is `W/"VERSION-HASH"`: the version identifies the snapshot, the hash the request."""
    found = re.match(r'W/"([^"-]+-\d+)-', etag or "")
    return None if found is None else found.group(1)


def _path_of(address: Address) -> str:
    """The end of the path of a record."""
    if isinstance(address, int) and not isinstance(address, bool):
        if address < 0:
            raise ValueError(f"{address} is not an id: pass a positive integer.")
        return str(address)
    if isinstance(address, Mapping) and len(address) == 1:
        ((name, value),) = address.items()
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            return f"{quote(name, safe='')}/{quote(str(value), safe='')}"
    raise TypeError("A record is addressed by its id or by one unique field: {'x_sku': '4711'}.")
