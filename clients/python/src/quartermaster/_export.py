"""Every matching record from one snapshot, in one response."""

from __future__ import annotations

import http.client
from typing import AbstractSet, Any, Generic, Iterator, Mapping, Optional, TypeVar, cast

from ._errors import StreamTruncated
from ._json import exact, loads
from ._transport import Exchange

R = TypeVar("R", bound=Mapping[str, Any])


class Export(Generic[R]):
    """
    The records of an export, as they arrive. After the last one, `count`, `version` and `cursor` are set: `changes(since=cursor)`
    continues the export. Raises StreamTruncated if the response ends early. Close it, or use it in a `with` statement, if you
    stop before its end.
    """

    #: The number of records, once all have been read.
    count: Optional[int] = None
    #: Identifies the snapshot from which the records were read.
    version: Optional[str] = None

    def __init__(self, exchange: Exchange, seconds: float, decimals: AbstractSet[str]) -> None:
        #: The cursor of the snapshot. None if the service does not send one.
        self.cursor: Optional[str] = exchange.header("x-changes-cursor")
        self._exchange = exchange
        self._records = self._read(seconds, decimals)

    def __iter__(self) -> Iterator[R]:
        return self

    def __next__(self) -> R:
        return next(self._records)

    def __enter__(self) -> Export[R]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        self._exchange.close()

    def _read(self, seconds: float, decimals: AbstractSet[str]) -> Iterator[R]:
        count = 0
        try:
            for line in _lines_of(self._exchange, seconds):
                parsed = loads(line)
                end = parsed.get("$end")
                if end is not None:
                    if end["count"] != count:
                        raise self._truncated(count, f"its end marker says {end['count']}")
                    self.count, self.version = count, end["version"]
                    return
                count += 1
                yield cast(R, exact(parsed, decimals))
        except (OSError, http.client.HTTPException) as error:
            raise self._truncated(count, "the connection broke") from error
        finally:
            self.close()
        raise self._truncated(count, "it ended without its end marker")

    def _truncated(self, count: int, reason: str) -> StreamTruncated:
        message = f"The export was truncated after {count} records: {reason}. Start it again."
        return StreamTruncated(message, count=count, request_id=self._exchange.header("x-request-id"))


def _lines_of(exchange: Exchange, seconds: float) -> Iterator[bytes]:
    """Yields complete lines only: text after the last line feed is a truncated line."""
    rest = b""
    for chunk in exchange.chunks(seconds):
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        yield from lines
