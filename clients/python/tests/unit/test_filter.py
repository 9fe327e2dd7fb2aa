"""Filters of `field`. A vitest test parses them with the parser of the service."""

import unittest
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from quartermaster import field
from quartermaster._filter import value_text


class Conditions(unittest.TestCase):
    def test_have_the_text_of_the_filter_language(self) -> None:
        for condition, text in (
            (field.active == True, "active=true"),  # noqa: E712
            (field.default_code != None, "default_code!=null"),  # noqa: E711
            (field.list_price > Decimal("1E-3"), "list_price>0.001"),
            (field.list_price >= 5, "list_price>=5"),
            (field.id < 5, "id<5"),
            (field.id <= -5, "id<=-5"),
            (field.name.contains("bolt"), 'name*"bolt"'),
            (field.name.not_contains(""), 'name!*""'),
            (field.categ_id.is_in([1, None]), "categ_id[1,null]"),
            (field.name.not_in(["a,b", "]"]), 'name!["a,b","]"]'),
            (field.write_date >= date(2026, 11, 14), "write_date>=2026-11-14"),
            (field.write_date > datetime(2026, 11, 14, 9, 30, tzinfo=timezone.utc), "write_date>2026-11-14T09:30:00+00:00"),
            (field("x_sku") == 'a"\\b', 'x_sku="a\\"\\\\b"'),
        ):
            self.assertEqual(str(condition), text)

    def test_keep_their_structure(self) -> None:
        a, b, c = field.a == 1, field.b == 2, field.c == 3
        self.assertEqual(str(a & b & c), "a=1&b=2&c=3")
        self.assertEqual(str(a | b | c), "a=1|b=2|c=3")
        self.assertEqual(str((a | b) & c), "(a=1|b=2)&c=3")
        self.assertEqual(str(a | (b & c)), "a=1|(b=2&c=3)")
        self.assertEqual(str((a & b) | (b & c)), "(a=1&b=2)|(b=2&c=3)")

    def test_reject_what_would_mean_something_else(self) -> None:
        with self.assertRaisesRegex(TypeError, "with & and |"):
            field.a == 1 and field.b == 2  # noqa: B015
        with self.assertRaisesRegex(TypeError, "parentheses"):
            (field.a == 1) & True  # type: ignore[operator]
        with self.assertRaisesRegex(TypeError, "with & and |"):
            # `&` binds tighter than `==` in Python.
            field.a == 1 & (field.b == 2)  # type: ignore[operator]
        with self.assertRaisesRegex(ValueError, "empty"):
            field.a.is_in([])
        with self.assertRaisesRegex(TypeError, "not one text"):
            field.a.is_in("abc")
        for name in ("", "a=1|b", "a b", "1a"):
            with self.assertRaises(ValueError):
                field(name)

    def test_reject_values_that_have_no_text(self) -> None:
        for value in (0.1, object(), b"x", [1]):
            with self.assertRaises(TypeError):
                value_text(value)
        for other in (Decimal("NaN"), datetime(2026, 1, 1), "\ud800"):
            with self.assertRaises(ValueError):
                value_text(other)
        self.assertEqual(value_text(datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))), "2026-01-01T01:00:00+01:00")
