"""The fields that an account has declared, as a TypedDict of the program."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, FrozenSet, Union, get_args, get_origin, get_type_hints


def decimals_in(record: Any) -> FrozenSet[str]:
    """The names of the members that are Decimal, or Decimal and None."""
    return frozenset(name for name, hint in get_type_hints(record).items() if _is_decimal(hint))


def _is_decimal(hint: Any) -> bool:
    if get_origin(hint) is Union or type(hint).__name__ == "UnionType":
        return Decimal in get_args(hint)
    return hint is Decimal
