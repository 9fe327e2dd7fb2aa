"""Counts, sums, minima, maxima and averages of records, in groups."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import AbstractSet, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from ._json import exact


@dataclass(frozen=True)
class SummaryGroup:
    """The records that have the same values in the fields of `group`. A field is in `sum`, `min`, `max` and `avg` if it was requested there."""

    #: The values by field; empty if there is only one group. A timestamp is the first day of its unit: `2026-11-01`.
    group: Dict[str, Any]
    #: The number of records.
    count: int
    #: 0 if no record has a value.
    sum: Dict[str, Union[int, Decimal]]
    #: None if no record has a value.
    min: Dict[str, Any]
    max: Dict[str, Any]
    #: With up to 12 digits after the decimal point; None if no record has a value.
    avg: Dict[str, Optional[Decimal]]


@dataclass(frozen=True)
class Summary:
    """The groups in the order of their values, null last. Iterating over it yields them."""

    groups: List[SummaryGroup]
    #: The exact number of records that match.
    total: int
    #: Changes with every write to this resource of the account: equal versions mean equal data.
    version: Optional[str]
    request_id: Optional[str]

    def __iter__(self) -> Iterator[SummaryGroup]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)


def joined(parameters: Mapping[str, Optional[Sequence[str]]]) -> Dict[str, Optional[str]]:
    """The parameters of the request. A list without a field is not sent."""
    for name, fields in parameters.items():
        if isinstance(fields, str):
            raise TypeError(f"{name} is a list of names: {name}=[{fields!r}].")
    return {name: ",".join(fields) if fields else None for name, fields in parameters.items()}


def groups_of(data: List[Dict[str, Any]], decimals: AbstractSet[str]) -> List[SummaryGroup]:
    return [
        SummaryGroup(
            group=exact(one["group"], decimals),
            count=one["count"],
            sum=exact(one.get("sum", {}), decimals),
            min=exact(one.get("min", {}), decimals),
            max=exact(one.get("max", {}), decimals),
            # An average of integers may have a fraction, so it is a decimal even where it has none.
            avg=exact(one.get("avg", {}), one.get("avg", {}).keys()),
        )
        for one in data
    ]
