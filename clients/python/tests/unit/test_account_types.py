"""`python3 -m quartermaster types`: the module that it writes, and how it fails."""

import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr
from decimal import Decimal
from pathlib import Path
from typing import Any, Dict, Optional, Tuple, Union, get_type_hints
from unittest import mock

import quartermaster
from quartermaster.__main__ import main
from quartermaster._own_fields import decimals_in

from .scripted import Responder, broken, problem, response, serving

#: Python with mypy, to check what is written as a program would be. `.ci/python` sets it.
MYPY_PYTHON = os.environ.get("MYPY_PYTHON")


def schemas(own: Dict[str, Any], new: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
    common = {"id": {"type": "integer"}, "name": {"type": "string"}}
    plain = {"properties": common}
    others = {name: plain for name in ("Partner", "Company", "NewPartner", "NewCompany")}
    return {"Product": {"properties": {**common, **own}}, "NewProduct": {"properties": {**common, **(own if new is None else new)}}, **others}


OWN = {
    "x_sku": {"type": ["string", "null"], "description": 'The "SKU"\nimport os \x00 # Größe'},
    "x_number": {"type": ["integer", "null"]},
    "x_weight": {"type": ["number", "null"]},
    "x_fresh": {"type": ["boolean", "null"]},
    "x_since": {"type": ["string", "null"], "format": "date-time"},
}
NEW = {**OWN, "x_weight": {"type": ["number", "string", "null"]}}

PROGRAM = """
from decimal import Decimal
from quartermaster import Quartermaster
from acme import NewProduct, Partner, Product

qm = Quartermaster("https://acme.example.com", "qm_key")
products = qm.products.typed(Product)
weight = products.get(1)["x_weight"]
total: Decimal = Decimal(0) if weight is None else weight
new: NewProduct = {"name": "Bolt", "x_sku": "A", "x_weight": "1.5"}
products.create(new)
partner: Partner = qm.partners.get(1)
"""


class AccountTypes(unittest.TestCase):
    def run_types(self, *responders: Responder, key: str = "qm_key\n") -> Tuple[int, str, str]:
        scripted = serving(self, *responders)
        self.requests = scripted.requests
        output, errors = io.TextIOWrapper(io.BytesIO(), encoding="ascii"), io.StringIO()
        with mock.patch("sys.stdin", io.StringIO(key)), mock.patch("sys.stdout", output), redirect_stderr(errors):
            code = main(["types", "--url", scripted.url])
        return code, output.buffer.getvalue().decode(), errors.getvalue()

    def module(self, own: Dict[str, Any], new: Dict[str, Any]) -> str:
        code, text, errors = self.run_types(response(200, json.dumps({"components": {"schemas": schemas(own, new)}})))
        self.assertEqual((code, errors), (0, ""))
        return text

    def test_are_a_module_with_the_fields_of_the_account(self) -> None:
        text = self.module(OWN, NEW)
        self.assertEqual([(one.method, one.path, one.headers["authorization"]) for one in self.requests], [("GET", "/openapi.json", "Bearer qm_key")])
        self.assertIn('    #: The "SKU" import os · # Größe\n    x_sku: Optional[str]\n', text)
        names: Dict[str, Any] = {"__name__": "acme"}
        exec(compile(text, "acme.py", "exec"), names)
        hints = get_type_hints(names["Product"])
        own: Dict[str, Any] = {"x_sku": Optional[str], "x_number": Optional[int], "x_weight": Optional[Decimal], "x_fresh": Optional[bool], "x_since": Optional[str]}
        self.assertEqual(hints, {**get_type_hints(quartermaster.Product), **own})
        self.assertEqual(decimals_in(names["Product"]), {"list_price", "qty_available", "x_weight"})
        self.assertEqual(get_type_hints(names["NewProduct"])["x_weight"], Optional[Union[Decimal, str, int]])
        self.assertEqual(names["NewProduct"].__required_keys__, {"name"})
        self.assertIs(names["Partner"], quartermaster.Partner)
        self.assertIs(names["NewCompany"], quartermaster.NewCompany)

    def test_of_an_account_without_fields_are_those_of_the_client(self) -> None:
        text = self.module({}, {})
        names: Dict[str, Any] = {}
        exec(compile(text, "acme.py", "exec"), names)
        self.assertIs(names["Product"], quartermaster.Product)
        self.assertNotIn("from", text.replace("# Written", ""))

    @unittest.skipIf(MYPY_PYTHON is None, "MYPY_PYTHON is not set")
    def test_are_checked_strictly_by_mypy(self) -> None:
        text = self.module(OWN, NEW)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "acme.py").write_text(text, encoding="utf-8")

            def check(program: str) -> Tuple[int, str]:
                Path(folder, "program.py").write_text(program, encoding="utf-8")
                done = subprocess.run(
                    [str(MYPY_PYTHON), "-m", "mypy", "--strict", "--no-error-summary", "program.py", "acme.py"],
                    cwd=folder,
                    env={**os.environ, "MYPYPATH": str(Path(quartermaster.__file__).parents[1])},
                    capture_output=True,
                    text=True,
                )
                return done.returncode, done.stdout + done.stderr

            self.assertEqual(check(PROGRAM), (0, ""))
            code, found = check(PROGRAM.replace('"x_weight": "1.5"', '"x_weigth": "1.5"'))
            self.assertEqual(code, 1)
            self.assertIn("x_weigth", found)

    def test_fail_with_a_message_and_write_nothing(self) -> None:
        document = {"components": {"schemas": schemas({"x_a: int = __import__('os')": {"type": "string"}})}}
        unknown = {"components": {"schemas": schemas({"x_shape": {"type": "geometry"}})}}
        for responder, key, message in (
            (problem(401, "unauthenticated"), "qm_key", "unauthenticated"),
            (response(200, "{}"), "qm_key", "does not describe its records"),
            (response(200, "[]"), "qm_key", "does not describe its records"),
            (response(200, "<html>"), "qm_key", "not JSON"),
            (response(200, json.dumps(document)), "qm_key", "is no name of a field"),
            (response(200, json.dumps(unknown)), "qm_key", "geometry"),
            (broken, "qm_key", "No response from"),
            (response(200, "{}"), " ", "api_key is missing"),
        ):
            with self.subTest(message):
                code, text, errors = self.run_types(responder, key=key)
                self.assertEqual((code, text), (1, ""))
                self.assertIn(message, errors)
                self.assertNotIn("Traceback", errors)
        with redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as caught:
            main(["types"])
        self.assertEqual(caught.exception.code, 2)

    def test_run_as_a_command(self) -> None:
        done = subprocess.run([sys.executable, "-m", "quartermaster", "types", "--help"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("usage: python3 -m quartermaster types", done.stdout)
