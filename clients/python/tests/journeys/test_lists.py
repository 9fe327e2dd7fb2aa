"""Lists, single records and iteration over all records."""

import unittest
from decimal import Decimal
from typing import Any, List

from quartermaster import (
    BaseUrlInvalid,
    MemoryCache,
    NotFound,
    Quartermaster,
    RequestInvalid,
    Unauthenticated,
    field,
)

from .service import service

NAME = 'Bolt & "nut", 5'

#: Each filter is at a limit of the language, or would mean something else in parentheses.
AT_LIMITS = [
    "name*:)|name*pin",
    "name=no|" * 199 + "name*pin",
    "(" * 32 + "name*pin|name=no" + ")" * 32,
    "name*pin|name=" + "x" * (65_536 - len("name*pin|name=")),
]


class Lists(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.url, cls.key = service().server.url, service().direct_key
        cls.qm = Quartermaster(cls.url, cls.key, cache=MemoryCache())
        rows = (
            {
                "id": at + 1,
                "name": f'Bolt & "nut", {at}' if at % 5 == 0 else f"Pin {at}",
                "list_price": Decimal(at) / 100,
                "default_code": f"C-{at}" if at % 2 == 0 else None,
            }
            for at in range(2_500)
        )
        assert cls.qm.products.upsert(rows).inserted == 2_500

    def ids(self, filter: Any = None, limit: int = 1_000) -> List[int]:
        return [record["id"] for record in self.qm.products.all(fields=["id"], filter=filter, limit=limit)]

    def test_have_the_requested_fields_the_page_and_the_total(self) -> None:
        page = self.qm.products.list(fields=["name", "id"], filter="id>3", limit=2, page=2)
        self.assertEqual(page.data, [{"name": NAME, "id": 6}, {"name": "Pin 6", "id": 7}])
        self.assertEqual((page.count, page.previous_page, page.page, page.next_page), (2, 1, 2, 3))
        self.assertEqual((page.total, page.total_pages), (len(self.ids("id>3")), -(-page.total // 2)))
        self.assertRegex(page.version or "", r"^[0-9a-f]{12}-\d+$")
        self.assertEqual([record["id"] for record in page], [6, 7])

    def test_return_the_same_records_for_a_text_and_a_condition_by_get_and_by_query(self) -> None:
        for filter in (
            'name="Bolt & \\"nut\\", 5"',
            field.name == NAME,
            field.name.is_in([NAME, *["no such product"] * 300]),
            (field.list_price == Decimal("0.05")) & (field.default_code == None) & field.create_date.is_in(["2999-01-01"])  # noqa: E711
            | (field.id == 6),
        ):
            self.assertEqual([record["id"] for record in self.qm.products.list(filter=filter)], [6])

    def test_are_sorted_by_a_field_and_searched_for_words(self) -> None:
        page = self.qm.products.list(search="pin", sort="-list_price", limit=5)
        prices = [product["list_price"] for product in page]
        self.assertEqual(prices, sorted(prices, reverse=True))
        self.assertTrue(all("Pin" in product["name"] for product in page))
        self.assertEqual(page.total, self.qm.products.list(filter="name*pin", limit=1).total)

    def test_come_from_the_cache_until_the_data_changes(self) -> None:
        kept, gone = (self.qm.products.create({"name": "Cached"}) for _ in range(2))

        def listed() -> Any:
            return self.qm.products.list(fields=["id"], filter=field.id.is_in([kept, gone]))

        first, second = listed(), listed()
        self.assertEqual((first.total, first.data, first.version), (2, second.data, second.version))
        self.assertNotEqual(first.request_id, second.request_id)
        self.qm.products.delete(gone)
        third = listed()
        self.assertEqual(third.data, [{"id": kept}])
        self.assertNotEqual(third.version, first.version)

    def test_summaries_have_groups_sums_and_counts_with_exact_decimals(self) -> None:
        summary = self.qm.products.summary(
            filter=field.id <= 10,
            group=["active", "create_date:month"],
            sum=["id", "list_price"],
            min=["id", "list_price"],
            max=["create_date"],
            avg=["id", "list_price"],
        )
        (group,) = summary
        self.assertEqual((summary.total, len(summary), group.count), (10, 1, 10))
        self.assertIs(group.group["active"], True)
        self.assertRegex(group.group["create_date"], r"^\d{4}-\d{2}-01$")
        self.assertEqual(group.sum, {"id": 55, "list_price": Decimal("0.45")})
        self.assertEqual((group.min, list(group.max)), ({"id": 1, "list_price": Decimal(0)}, ["create_date"]))
        self.assertEqual(group.avg, {"id": Decimal("5.5"), "list_price": Decimal("0.045")})
        exact = [*group.avg.values(), group.sum["list_price"], group.min["list_price"]]
        self.assertEqual({type(value) for value in exact}, {Decimal})
        self.assertEqual(type(group.sum["id"]), int)
        self.assertRegex(summary.version or "", r"^[0-9a-f]{12}-\d+$")

    def test_summaries_of_no_records_and_of_long_filters(self) -> None:
        (none,) = self.qm.products.summary(filter="id=0", sum=["list_price"], max=["id"], avg=["list_price"], group=[])
        self.assertEqual((none.group, none.count, none.sum, none.max, none.avg), ({}, 0, {"list_price": Decimal(0)}, {"id": None}, {"list_price": None}))
        long = self.qm.products.summary(filter=field.name.is_in(["Pin 1", *["no such product"] * 300]))
        self.assertEqual([(one.group, one.count) for one in long], [({}, 1)])
        with self.assertRaisesRegex(TypeError, r"sum is a list of names: sum=\['id'\]"):
            self.qm.products.summary(sum="id")
        with self.assertRaises(RequestInvalid) as caught:
            self.qm.products.summary(group=["create_date"])
        self.assertEqual(caught.exception.errors[0]["code"], "group_unit_invalid")

    def test_summaries_come_from_the_cache_until_the_data_changes(self) -> None:
        added = self.qm.products.create({"name": "Summarized", "list_price": "0.5"})

        def read() -> Any:
            return self.qm.products.summary(filter=field.id == added, sum=["list_price"])

        first, second = read(), read()
        self.assertEqual((first.groups, first.version), (second.groups, second.version))
        self.assertNotEqual(first.request_id, second.request_id)
        self.qm.products.update(added, {"list_price": "12"})
        self.assertEqual([one.sum["list_price"] for one in read()], [Decimal(12)])
        self.qm.products.delete(added)

    def test_one_record_is_found_by_its_id(self) -> None:
        self.assertEqual(self.qm.products.get(2, fields=["id", "default_code"]), {"id": 2, "default_code": None})
        record = self.qm.products.get(101)
        self.assertEqual((record["list_price"], type(record["list_price"])), (Decimal(1), Decimal))
        self.assertIn("write_date", record)

    def test_a_record_that_does_not_exist_raises_not_found(self) -> None:
        with self.assertRaises(NotFound) as caught:
            self.qm.products.get(1_000_000)
        self.assertEqual((caught.exception.status, caught.exception.code), (404, "record_unknown"))
        with self.assertRaisesRegex(NotFound, 'There is no company with the id "1".'):
            self.qm.companies.get(1)

    def test_a_wrong_base_url_does_not_raise_not_found(self) -> None:
        """A sync that deletes missing records would delete all."""
        with self.assertRaisesRegex(BaseUrlInvalid, "Check base_url") as caught:
            Quartermaster(f"{self.url}/elsewhere", self.key).products.get(2)
        self.assertNotIsInstance(caught.exception, NotFound)
        self.assertEqual((caught.exception.status, caught.exception.code), (404, "path_unknown"))

    def test_errors_show_the_position_in_the_filter(self) -> None:
        text = "active=true&list_prise>10"
        with self.assertRaises(RequestInvalid) as caught:
            self.qm.products.list(filter=text)
        error = caught.exception
        self.assertEqual((text[error.span], error.suggestion), ("list_prise", "active=true&list_price>10"))
        self.assertEqual((error.code, error.status, error.errors[0]["parameter"]), ("request_invalid", 400, "filter"))
        self.assertIn(f"  {text}\n              ^^^^^^^^^^\nSuggestion: active=true&list_price>10", str(error))
        self.assertIn(str(error.request_id), str(error))

    def test_an_invalid_key_is_reported(self) -> None:
        with self.assertRaises(Unauthenticated):
            Quartermaster(self.url, "qm_nothing").products.list()

    def test_all_yields_every_record_once_with_or_without_its_id(self) -> None:
        ids = self.ids(limit=100)
        self.assertEqual((len(ids), ids), (self.qm.products.list().total, sorted(set(ids))))
        names = list(self.qm.products.all(fields=["name"], filter="id<=2"))
        self.assertEqual(names, [{"name": 'Bolt & "nut", 0'}, {"name": "Pin 1"}])

    def test_all_misses_no_record_while_earlier_records_are_deleted(self) -> None:
        writer = Quartermaster(self.url, self.key)
        for filter in (None, "default_code!=null|name*pin", *AT_LIMITS):
            before = self.ids(filter)
            deleted, seen = set(), []
            for record in self.qm.products.all(fields=["id"], filter=filter, limit=50):
                seen.append(record["id"])
                if len(seen) % 170 == 0:
                    victims = {seen[-100], before[-(len(seen) // 17)]} - deleted
                    deleted |= victims
                    writer.products.upsert([{"$delete": one} for one in victims])
            self.assertGreater(len(deleted), 10)
            self.assertEqual(seen, sorted(set(seen)))
            self.assertEqual([one for one in before if one not in deleted and one not in set(seen)], [])

    def test_an_export_has_every_record_of_one_snapshot(self) -> None:
        with self.qm.products.export(fields=["id", "list_price"], filter=field.id <= 500) as export:
            records = list(export)
        self.assertEqual([record["id"] for record in records], self.ids("id<=500"))
        self.assertEqual({type(record["list_price"]) for record in records}, {Decimal})
        self.assertEqual((export.count, bool(export.version), bool(export.cursor)), (len(records), True, True))
