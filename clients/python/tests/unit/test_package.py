"""The package: its names, its types at run time, and its version."""

import json
import re
import unittest
from decimal import Decimal
from pathlib import Path
from typing import Optional

import quartermaster
from quartermaster import Product
from quartermaster._json import Record, exact, loads
from quartermaster._own_fields import decimals_in

FOLDER = Path(__file__).resolve().parents[2]


class MyProduct(Product):
    x_sku: Optional[str]
    x_weight: Optional[Decimal]
    x_price: Decimal


class Package(unittest.TestCase):
    def test_exports_every_name(self) -> None:
        self.assertEqual([name for name in quartermaster.__all__ if not hasattr(quartermaster, name)], [])
        self.assertEqual(quartermaster.__all__, sorted(quartermaster.__all__, key=lambda name: (name.lower() == name, name)))

    def test_has_the_version_of_pyproject_and_of_the_workspace(self) -> None:
        text = (FOLDER / "pyproject.toml").read_text()
        self.assertEqual(re.findall(r'^version = "(.*)"', text, re.M), [quartermaster.__version__])
        workspace = json.loads((FOLDER.parents[1] / "package.json").read_text())
        self.assertEqual(workspace["version"], quartermaster.__version__)


class Decimals(unittest.TestCase):
    def test_of_a_typed_dict_are_known(self) -> None:
        self.assertEqual(decimals_in(MyProduct), {"list_price", "qty_available", "x_weight", "x_price"})

    def test_have_every_digit_and_never_a_float(self) -> None:
        record = loads('{"list_price":123456789012345678901234.123456789012,"qty_available":5,"x_weight":1e-7,"id":5,"categ_id":null}')
        self.assertEqual(
            exact(record, frozenset({"list_price", "qty_available", "categ_id", "x_other"})),
            {"list_price": Decimal("123456789012345678901234.123456789012"), "qty_available": Decimal(5), "x_weight": Decimal("1E-7"), "id": 5, "categ_id": None},
        )
        self.assertEqual([type(one).__name__ for one in record.values()], ["Decimal", "Decimal", "Decimal", "int", "NoneType"])
        with self.assertRaises(ValueError):
            loads("NaN")

    def test_a_record_is_a_dict_that_json_can_print(self) -> None:
        record = Record(id=5)
        record.etag = '"x"'
        self.assertEqual(json.dumps(record), '{"id": 5}')
