"""Filters built from fields and values, which no value can change."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Iterable, List, Union

from ._json import decimal_text, timestamp_text

#: A value of a filter. A decimal is a Decimal, an int or a text; a float is not exact.
Value = Union[str, int, Decimal, bool, datetime, date, None]


class Condition:
    """
    One condition on the records of a resource, or several combined with `&` and `|`. Immutable. Put each comparison in parentheses:
    `(field.list_price > 10) & (field.active == True)`.
    """

    __slots__ = ("_kind", "_terms", "_text")

    def __init__(self, text: str, kind: str = "condition", terms: Iterable[Condition] = ()) -> None:
        self._text = text
        self._kind = kind
        self._terms = list(terms)

    def __and__(self, other: Condition) -> Condition:
        return _combined("and", "&", [self, other])

    def __or__(self, other: Condition) -> Condition:
        return _combined("or", "|", [self, other])

    def __str__(self) -> str:
        """The text that is sent to the service."""
        return self._text

    def __repr__(self) -> str:
        return f"Condition({self._text!r})"

    def __bool__(self) -> bool:
        raise TypeError("A condition is neither true nor false here. Combine conditions with & and |, not with `and`, `or` and `not`.")


def _combined(kind: str, operator: str, conditions: List[Condition]) -> Condition:
    if not all(isinstance(one, Condition) for one in conditions):
        raise TypeError("Only conditions can be combined. Put each comparison in parentheses: (field.id > 1) & (field.id < 9)")
    terms = [term for one in conditions for term in (one._terms if one._kind == kind else [one])]
    return Condition(operator.join(str(one) if one._kind == "condition" else f"({one})" for one in terms), kind, terms)


class FieldConditions:
    """A field of a record, with an operator for each comparison."""

    __slots__ = ("_name",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is None:
            raise ValueError(f"{name!r} is not the name of a field.")
        self._name = name

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        """Equals. None if the field may be null."""
        return self._is("=", value)

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        """Does not equal. Also matches records whose field is null, unless the value is None."""
        return self._is("!=", value)

    def __gt__(self, value: Value) -> Condition:
        return self._is(">", value)

    def __ge__(self, value: Value) -> Condition:
        return self._is(">=", value)

    def __lt__(self, value: Value) -> Condition:
        return self._is("<", value)

    def __le__(self, value: Value) -> Condition:
        return self._is("<=", value)

    def contains(self, text: str) -> Condition:
        """Contains this text, ignoring case."""
        return self._is("*", text)

    def not_contains(self, text: str) -> Condition:
        return self._is("!*", text)

    def is_in(self, values: Iterable[Value]) -> Condition:
        """Is one of these. There must be at least one."""
        return self._is_in("[", values)

    def not_in(self, values: Iterable[Value]) -> Condition:
        """Is none of these. There must be at least one."""
        return self._is_in("![", values)

    def _is(self, operator: str, value: object) -> Condition:
        return Condition(f"{self._name}{operator}{value_text(value)}")

    def _is_in(self, operator: str, values: Iterable[Value]) -> Condition:
        if isinstance(values, (str, bytes)):
            raise TypeError("is_in() and not_in() take a list of values, not one text.")
        texts = [value_text(value) for value in values]
        if not texts:
            raise ValueError("The list of is_in() or not_in() is empty. Leave the condition out, or do not send the request.")
        return Condition(f"{self._name}{operator}{','.join(texts)}]")


class Fields:
    """`field.list_price`, or `field("list_price")`. The service rejects names that no field has."""

    def __getattr__(self, name: str) -> FieldConditions:
        if name.startswith("__"):
            raise AttributeError(name)
        return FieldConditions(name)

    def __call__(self, name: str) -> FieldConditions:
        return FieldConditions(name)


#: The fields of any resource, for conditions: `field.list_price > 10`.
field = Fields()


def value_text(value: object) -> str:
    """A value in the notation of the filter language. Raises TypeError or ValueError if the language cannot express it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        value.encode()  # Raises if it has half of a surrogate pair, which is not a character.
        # Always quoted, so that no following text becomes part of it.
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, datetime):
        # Every digit, as the service compares them.
        timestamp_text(value)
        return value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        raise TypeError(f'{value!r} is a float, which is not exact. Pass Decimal("{value!r}").')
    raise TypeError(f"A value of type {type(value).__name__} is not a filter value. Pass a str, int, Decimal, bool, datetime, date or None.")
