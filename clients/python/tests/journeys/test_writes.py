"""Writes, whose responses are lost on their way."""

import subprocess
import sys
import unittest
from decimal import Decimal
from typing import Any, Dict, List, Optional, get_type_hints

import quartermaster
from quartermaster import NotFound, PreconditionFailed, Product, Quartermaster, RequestInvalid
from quartermaster import Conflict

from .service import service

PATH = "/api/v1/inventory/product"


class Writes(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.account = service().account("external")
        cls.qm = Quartermaster(cls.account.url, cls.account.key)
        cls.lost = cls.account.proxy.lost

    def tearDown(self) -> None:
        self.assertEqual(+self.lost, {}, "a response was to be lost and was not requested")

    def test_one_record_is_created_changed_and_deleted_once_although_responses_are_lost(self) -> None:
        products = self.qm.products
        before = products.list(limit=1).total
        self.lost[PATH] = 2
        one = products.create({"name": "Bolt", "list_price": Decimal("1.50"), "default_code": "B-1"})
        self.assertEqual(products.list(limit=1).total, before + 1)
        self.lost[f"{PATH}/{one}"] = 1
        changed = products.update(one, {"list_price": 2, "default_code": None})
        self.assertEqual((changed["id"], changed["name"], changed["list_price"], changed["default_code"]), (one, "Bolt", 2, None))
        self.lost[f"{PATH}/{one}"] = 1
        products.delete(one)
        with self.assertRaises(NotFound):
            products.get(one)
        with self.assertRaises(NotFound):
            products.delete(one)

    def test_a_record_is_created_once_per_idempotency_key(self) -> None:
        first = self.qm.partners.create({"name": "Nordwind"}, idempotency_key="order-1")
        self.assertEqual(self.qm.partners.create({"name": "Nordwind"}, idempotency_key="order-1"), first)
        self.assertEqual(self.qm.partners.create({"name": "Nordwind"}), first + 1)
        with self.assertRaises(RequestInvalid):
            self.qm.partners.create({"name": ""})

    def test_a_record_is_adjusted_once_although_responses_are_lost(self) -> None:
        products = self.qm.products
        one = products.create({"name": "Counted", "qty_available": 10})
        self.lost[f"{PATH}/{one}/adjust"] = 2
        adjusted = products.adjust(one, {"qty_available": -3, "list_price": "0.5"})
        self.assertEqual((adjusted["qty_available"], adjusted["list_price"]), (7, Decimal("0.5")))
        products.update(one, {"name": "Changed"}, if_match=adjusted)
        with self.assertRaises(PreconditionFailed):
            products.adjust(one, {"qty_available": 1}, if_match=adjusted)
        self.assertEqual(products.get(one)["qty_available"], 7)

    def test_a_record_is_changed_only_if_no_one_else_has_changed_it(self) -> None:
        products = self.qm.products
        one = products.create({"name": "Bolt"})
        mine, theirs = products.get(one, fields=["name"]), products.get(one)
        changed = products.update(one, {"name": "Theirs"}, if_match=theirs)
        for write in (
            lambda: products.update(one, {"name": "Mine"}, if_match=mine),
            lambda: products.delete(one, if_match=mine),
        ):
            with self.assertRaises(PreconditionFailed):
                write()
        with self.assertRaisesRegex(TypeError, "as get or update has returned it"):
            products.delete(one, if_match={"id": one})
        products.delete(one, if_match=str(products.etag_of(changed)))

    def test_etags_in_fields_and_changes_are_taken_by_rows(self) -> None:
        products = self.qm.products
        one = products.create({"name": "Conditional"})
        etag = products.get(one, fields=["etag"])["etag"]  # type: ignore[typeddict-item]
        self.assertEqual({change.etag for change in products.changes() if change.id == one}, {etag})
        rows = [{"id": one, "name": "First", "$if_match": etag}, {"id": one, "name": "Second", "$if_match": etag}]
        rejected: List[Any] = []
        products.upsert(rows, on_rejected=lambda fault: rejected.append((fault.row["name"], fault.code)))
        self.assertEqual((rejected, products.get(one)["name"]), ([("Second", "changed")], "First"))

    def test_a_record_says_who_wrote_it_and_a_deletion_who_deleted_it(self) -> None:
        products = self.qm.products
        one = products.create({"name": "Signed"})
        written: Any = products.get(one, fields=["created_by", "changed_by"])
        self.assertEqual(written["created_by"], written["changed_by"])
        before = products.changes()
        self.assertIn(one, [change.id for change in before])
        products.delete(one)
        after = products.changes(since=before.cursor, fields=["changed_by"])
        self.assertEqual([(change.id, change.deleted_by) for change in after], [(one, written["changed_by"])])

    def test_decimals_have_every_digit_in_every_response(self) -> None:
        products = self.qm.products
        price = Decimal("123456789012345678901234.123456789012")
        one = products.create({"name": '"list_price":1.50', "list_price": price})
        updated = products.update(one, {"qty_available": Decimal("-0.000000000001"), "categ_id": 7})
        self.assertEqual((updated["list_price"], updated["qty_available"]), (price, Decimal("-0.000000000001")))
        self.assertEqual((updated["name"], updated["categ_id"], type(updated["categ_id"])), ('"list_price":1.50', 7, int))
        self.assertEqual(products.get(one), updated)
        self.assertEqual(products.list(filter=f"id={one}").data, [updated])
        self.assertEqual(list(products.all(filter=f"id={one}")), [updated])
        self.assertEqual(list(products.export(filter=f"id={one}")), [updated])
        self.assertEqual([change.record for change in products.changes(filter=f"id={one}") if change.id == one], [updated])
        products.adjust(one, {"list_price": Decimal("0.000000000001")})
        self.assertEqual(products.get(one)["list_price"], Decimal("123456789012345678901234.123456789013"))

    def test_any_number_of_rows_is_written_and_batches_that_were_not_confirmed_are_repeated(self) -> None:
        self.lost[f"{PATH}/batch"] = 2
        progress = []
        rows = ({"id": one, "name": f"Row {one}", "list_price": "0.10"} for one in range(10_001, 22_001))
        totals = self.qm.products.upsert(rows, on_progress=progress.append)
        # The first batch was written by the attempt whose response was lost.
        self.assertEqual((totals.read, totals.inserted, totals.unchanged, totals.rejected), (12_000, 7_000, 5_000, 0))
        self.assertEqual([one.read for one in progress], [5_000, 10_000, 12_000])
        self.assertEqual(self.qm.products.list(filter="id>=10001&id<=22000").total, 12_000)

    def test_rejected_rows_are_passed_to_the_caller_and_the_others_written(self) -> None:
        rows: List[Dict[str, Any]] = [{"id": 30_001 + at, "name": "Row"} for at in range(6_000)]
        rows[2] = {"id": 30_003, "name": "x" * 600}
        rows[5_500] = {"id": 0, "name": "No id"}
        rejected: List[Any] = []
        totals = self.qm.products.upsert(rows, on_rejected=rejected.append)
        self.assertEqual((totals.read, totals.inserted, totals.rejected), (6_000, 5_998, 2))
        self.assertEqual([(one.index, one.row, one.field) for one in rejected], [(2, rows[2], "name"), (5_500, rows[5_500], "id")])
        self.assertEqual(rejected[1].reason, "is below 1")
        self.qm.products.upsert({"$delete": row["id"]} for row in rows if row["id"] > 0)
        self.assertEqual(self.qm.products.list(filter="id>=30001&id<=36000").total, 0)

    def test_mode_update_changes_only_records_that_exist(self) -> None:
        one = self.qm.partners.create({"name": "Nordwind"})
        rows = [{"id": one, "name": "Ostwind"}, {"id": 77, "name": "Unknown"}]
        rejected: List[Any] = []
        totals = self.qm.partners.upsert(rows, mode="update", on_rejected=lambda fault: rejected.append(fault.row))
        self.assertEqual((totals.updated, totals.inserted, totals.rejected, rejected), (1, 0, 1, [rows[1]]))
        self.assertEqual(self.qm.partners.get(one)["name"], "Ostwind")

    def test_the_service_refuses_a_batch_that_it_cannot_process(self) -> None:
        companies = Quartermaster(service().server.url, service().direct_key, retry_for=0).companies
        with self.assertRaises(RequestInvalid):
            companies.upsert([{"id": 1, "name": "x", "nmae": "y"}])
        long = [*({"id": 40_001 + at, "name": "Row", "branch_user": "1"} for at in range(1_500)), {"id": 50_000, "name": "x" * 1_100_000}]
        with self.assertRaises(RequestInvalid) as caught:
            companies.upsert(long)
        self.assertEqual((caught.exception.code, caught.exception.status), ("body_invalid", 400))


class MyProduct(Product):
    x_sku: str
    x_number: int
    x_weight: Decimal


class OwnFields(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.account = service().account("service")
        for name, kind, unique in (("x_sku", "text", True), ("x_number", "integer", True), ("x_weight", "decimal", False)):
            arguments = ("--unique",) if unique else ()
            service().command("field", "create", "--account", cls.account.name, "product", name, kind, "--label", name, *arguments)
        cls.products = Quartermaster(cls.account.url, cls.account.key).products.typed(MyProduct)

    def test_are_written_by_the_command_as_types(self) -> None:
        command = [sys.executable, "-m", "quartermaster", "types", "--url", self.account.url]

        def run(key: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
            return subprocess.run([*command, *arguments], input=key, capture_output=True, encoding="utf-8")

        done = run(f"{self.account.key}\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        names: Dict[str, Any] = {"__name__": "acme"}
        exec(compile(done.stdout, "acme.py", "exec"), names)
        own = {name: hint for name, hint in get_type_hints(names["Product"]).items() if name.startswith("x_")}
        self.assertEqual(own, {"x_sku": Optional[str], "x_number": Optional[int], "x_weight": Optional[Decimal]})
        self.assertIn("    #: x_weight\n    x_weight: Optional[Decimal]\n", done.stdout)
        self.assertIs(names["Partner"], quartermaster.Partner)
        products = Quartermaster(self.account.url, self.account.key).products.typed(names["Product"])
        # Without the types, a whole number is an int.
        one = products.create({"name": "Typed", "x_weight": 3})
        self.assertEqual([type(products.get(one)["x_weight"]), type(products.get(one)["x_sku"])], [Decimal, type(None)])
        products.delete(one)
        failed = run("qm_wrong")
        self.assertEqual((failed.returncode, failed.stdout), (1, ""))
        self.assertIn("unauthenticated", failed.stderr)

    def test_are_read_written_and_filtered(self) -> None:
        from quartermaster import field

        one = self.products.create({"name": "Bolt", "x_sku": "A/1", "x_weight": Decimal("123456789012345678.125")})
        self.assertEqual(self.products.get(one, fields=["x_sku", "x_weight"]), {"x_sku": "A/1", "x_weight": Decimal("123456789012345678.125")})
        found = self.products.list(filter=(field.x_weight > 1) & field.x_sku.contains("a/"))
        self.assertEqual([record["id"] for record in found], [one])
        self.products.update(one, {"x_weight": 5})
        self.assertIsInstance(self.products.get(one)["x_weight"], Decimal)
        self.products.delete(one)

    def test_address_records_by_the_value_of_a_unique_one(self) -> None:
        key = {"x_sku": "Ä 2/3?"}
        path = f"{PATH}/x_sku/%C3%84%202%2F3%3F"
        self.account.proxy.lost[path] = 2
        created = self.products.put(key, {"name": "Nut", "qty_available": 5})
        again = self.products.put(key, {"list_price": 2})
        self.assertEqual((again["id"], again["name"], again["list_price"]), (created["id"], "Nut", 2))
        self.assertEqual(self.products.get(key, fields=["id"]), {"id": created["id"]})
        self.account.proxy.lost[f"{path}/adjust"] = 1
        self.assertEqual(self.products.adjust(key, {"qty_available": -2})["qty_available"], 3)
        self.assertEqual(self.products.update(key, {"x_number": 7})["x_number"], 7)
        self.assertEqual(self.products.get({"x_number": 7})["x_sku"], "Ä 2/3?")
        with self.assertRaises(Conflict) as caught:
            self.products.create({"name": "Twin", "x_number": 7})
        self.assertEqual(caught.exception.code, "key_taken")
        self.products.delete(key)
        with self.assertRaises(NotFound):
            self.products.get(key)
        with self.assertRaises(PreconditionFailed):
            self.products.update(key, {"name": "None"})
        self.assertEqual(+self.account.proxy.lost, {})

    def test_rows_are_written_by_a_unique_one_with_ids_of_the_service(self) -> None:
        rows = [{"x_sku": f"S-{at}", "name": f"Row {at}"} for at in range(6_000)]
        first = self.products.upsert(rows, key="x_sku")
        self.assertEqual((first.read, first.inserted), (6_000, 6_000))
        rejected: List[Any] = []
        more = [{"$delete": {"x_sku": "S-0"}}, {"x_sku": "S-9", "list_price": "cheap"}]
        second = self.products.upsert([*rows, *more], key="x_sku", on_rejected=lambda one: rejected.append((one.field, one.index)))
        self.assertEqual((second.read, second.unchanged, second.deleted, second.rejected), (6_002, 6_000, 1, 1))
        self.assertEqual(rejected, [("list_price", 6_001)])
        exists: List[Any] = []
        existing = [{"x_sku": "S-1", "name": "Other"}]
        self.products.upsert(existing, key="x_sku", mode="insert", on_rejected=lambda one: exists.append((one.code, type(one.id))))
        self.assertEqual(exists, [("record_exists", int)])

    def test_the_first_batch_says_that_ids_are_external_from_now_on(self) -> None:
        account = service().account()
        partners = Quartermaster(account.url, account.key).partners
        self.assertEqual(partners.upsert([{"id": 1, "name": "A"}]).ids_now, "external")
        self.assertIsNone(partners.upsert([{"id": 2, "name": "B"}]).ids_now)
