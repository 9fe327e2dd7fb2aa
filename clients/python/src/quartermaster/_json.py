"""JSON without floats: decimals are `decimal.Decimal` in both directions."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import AbstractSet, Any, Dict, Iterable, Mapping, Optional, Union


class Record(Dict[str, Any]):
    """A record with the ETag of the response it came from."""

    etag: Optional[str] = None


def loads(text: Union[str, bytes]) -> Any:
    """Numbers with a fraction or an exponent are Decimal. Raises ValueError if the text is not JSON."""
    return json.loads(text, parse_float=Decimal, parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def exact(record: Dict[str, Any], decimals: AbstractSet[str]) -> Dict[str, Any]:
    """Makes the decimals of a record Decimal, also those without a fraction: the service sends 12 for 12.0."""
    for name in decimals & record.keys():
        value = record[name]
        if value.__class__ is int:
            record[name] = Decimal(value)
    return record


def exact_all(records: Iterable[Dict[str, Any]], decimals: AbstractSet[str]) -> None:
    for record in records:
        exact(record, decimals)


def dumps(value: Mapping[str, object]) -> bytes:
    """One line. Decimals become strings with every digit, which the service stores as they are."""
    for name, member in value.items():
        if isinstance(member, float):
            raise TypeError(f"{name} is the float {member!r}, which is not exact. {_instead_of(member)}")
    return json.dumps(value, default=_plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, (datetime, date)):
        return timestamp_text(value)
    # Integers of other libraries, such as numpy.
    index = getattr(value, "__index__", None)
    if index is not None:
        return int(index())
    raise TypeError(f"A value of type {type(value).__name__} cannot be sent. Pass a str, int, Decimal, bool, datetime or None.")


def decimal_text(value: Decimal) -> str:
    if not value.is_finite():
        raise ValueError(f"{value} is not a number that can be sent.")
    return format(value, "f")


def timestamp_text(value: Union[datetime, date]) -> str:
    if not isinstance(value, datetime):
        return value.isoformat()
    if value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone. Use datetime.now(timezone.utc), or value.replace(tzinfo=…).")
    utc = value.astimezone(timezone.utc).replace(tzinfo=None)
    # The service stores milliseconds.
    return utc.isoformat(timespec="milliseconds") + "Z"


def _instead_of(value: float) -> str:
    return f'Pass Decimal("{value!r}") or "{value!r}".'
