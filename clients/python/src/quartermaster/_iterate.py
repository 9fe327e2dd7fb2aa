"""Every record exactly once, while others write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, Iterator, List, Optional

from . import _limits as limits
from ._errors import QueryTooSlow


@dataclass(frozen=True)
class RecordPage:
    records: List[Dict[str, Any]]
    is_last: bool
    #: Identifies the snapshot from which the page was read; None if a proxy removed the ETag.
    version: Optional[str]


@dataclass(frozen=True)
class PagePosition:
    """A page of all matches, or of those in a window of ids: greater than `after`, and at most `up_to` if that is set."""

    after: Optional[int] = None
    up_to: Optional[int] = None
    page: int = 1


def iterate(fetch_page: Callable[[PagePosition], RecordPage]) -> Iterator[Dict[str, Any]]:
    """
    Yields every record exactly once, ordered by id, while others write. A page number is an offset from the start: if an earlier
    record is deleted, all later records move up, and the next page would skip one. So a page is used only if it has the same version
    as the page before. If not, iteration continues by key, with the records after the last id, which is correct at any version. It
    then requests windows of ids, because at a new version the service must count all matches again, and a window limits that count.
    """
    position = PagePosition()
    version: Optional[str] = None
    last_id: Optional[int] = None
    width = limits.ITERATION_PAGE_RECORDS
    while True:
        try:
            page = fetch_page(position)
        except QueryTooSlow:
            # A high page number can exceed the service's timeout while its page cache is cold; a read by key never does.
            if position.page == 1:
                raise
            position = _window_after(last_id or 0, width)
            continue
        if position.page > 1 and page.version != version:
            position = _window_after(last_id or 0, width)
            continue
        is_unchanged = page.version is not None and (last_id is None or page.version == version)
        if page.records:
            last_id = page.records[-1]["id"]
            pages = limits.ID_WINDOW_PAGES if is_unchanged else limits.ID_WINDOW_PAGES_DURING_WRITES
            if not page.is_last:
                width = (last_id - page.records[0]["id"] + 1) * pages
        version = page.version
        yield from page.records
        if page.is_last:
            if position.up_to is None:
                return
            if position.page == 1:
                width *= limits.ID_WINDOW_GROWTH
            position = _window_after(position.up_to, width)
        elif is_unchanged:
            position = replace(position, page=position.page + 1)
        else:
            position = _window_after(last_id or 0, width)


def _window_after(after: int, width: int) -> PagePosition:
    """A window that would end beyond the largest possible id has no upper bound."""
    up_to = after + width
    return PagePosition(after, up_to if up_to < limits.ID_MAX else None)
