"""The samples of README.md and of the guide, as they are written, and the programs in examples/, one of them killed again and again."""

import contextlib
import io
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Dict, List
from unittest import mock

from quartermaster import Quartermaster

from .service import ROOT, Account, eventually, service

GUIDE = ROOT / "docs/guides/python.md"
README = ROOT / "clients/python/README.md"
#: A short form has fewer.
KILLS = int(os.environ.get("PYTHON_KILLS", "20"))


def blocks(document: Path) -> List[Any]:
    """Name and text of each block of Python."""
    return re.findall(r"^```python(?: (\S+))?\n(.*?)^```$", document.read_text(encoding="utf-8"), re.M | re.S)


def prepared(count: int) -> Account:
    account = service().account("external")
    service().command("field", "create", "--account", account.name, "product", "x_sku", "text", "--unique")
    rows = ({"id": one, "name": f"Hex bolt {one}", "list_price": f"{one}.50"} for one in range(1, count + 1))
    assert Quartermaster(account.url, account.key).products.upsert(rows).inserted == count
    return account


def environment(account: Account) -> Dict[str, str]:
    return {**os.environ, "QUARTERMASTER_URL": account.url, "QUARTERMASTER_KEY": account.key}


class Samples(unittest.TestCase):
    def run_samples(self, document: Path) -> List[str]:
        account = prepared(20)
        names: Dict[str, Any] = {"__name__": "__main__"}
        printed: List[str] = []
        for name, text in blocks(document):
            if name:
                continue
            output = io.StringIO()
            with mock.patch.dict(os.environ, environment(account)), contextlib.redirect_stdout(output):
                exec(compile(text, str(document), "exec"), names)
            printed.append(output.getvalue())
        return printed

    def test_of_the_readme_work_as_written(self) -> None:
        printed = self.run_samples(README)
        self.assertEqual(len(printed), 10)
        # What each must have printed, so that none passes by doing nothing.
        for output, wanted in zip(
            printed,
            (r"^20 \[.*\n20 ", r"^None 20 0 11\n20\n", None, r"^-3\n", r"^10\n10 0\n", r"created 1 ", r"^webhook.test\nrespond with 401", r"^apply webhook.test \[\]\n204", r"^[1-9]", r"^active=true&list_price>10\n"),
        ):
            if wanted is not None:
                self.assertRegex(output, re.compile(wanted, re.S))

    def test_of_the_guide_work_as_written(self) -> None:
        (printed,) = self.run_samples(GUIDE)
        self.assertEqual(printed.splitlines()[0], "11 products cost more than 10")

    def test_the_program_in_the_guide_is_the_file_in_examples(self) -> None:
        programs = [(name, text) for name, text in blocks(GUIDE) if name]
        self.assertEqual([name for name, _ in programs], ["sync.py"])
        for name, text in programs:
            self.assertEqual(text, (ROOT / "examples" / name).read_text(encoding="utf-8"))


class Programs(unittest.TestCase):
    def in_api(self, account: Account) -> List[Any]:
        fields = ["id", "name", "list_price"]
        return [tuple(map(str, record.values())) for record in Quartermaster(account.url, account.key).products.all(fields=fields)]

    def in_copy(self, file: Path) -> List[Any]:
        with contextlib.closing(sqlite3.connect(file, timeout=60)) as db:
            return [tuple(map(str, row)) for row in db.execute("select id, name, list_price from product order by id")]

    def test_the_program_with_the_standard_library_only_follows_changes_and_survives_an_expired_cursor(self) -> None:
        account, file = prepared(2_500), service().folder / "plain.db"
        products = Quartermaster(account.url, account.key).products

        def run() -> str:
            command = [sys.executable, "-I", str(ROOT / "examples/sync-plain.py"), str(file)]
            return subprocess.run(command, env=environment(account), check=True, capture_output=True, text=True).stdout

        self.assertEqual(run(), "2500 changes, 2500 products in the copy\n")
        products.update(1, {"list_price": "12345678901234567.125"})
        products.delete(2)
        self.assertEqual(run(), "2 changes, 2499 products in the copy\n")
        self.assertEqual(self.in_copy(file), self.in_api(account))
        service().lose_track(account, "id = 3")
        run()
        self.assertEqual(self.in_copy(file), self.in_api(account))
        self.assertEqual(run(), "0 changes, 2498 products in the copy\n")

    def test_a_copy_whose_program_is_killed_loses_nothing_that_exists_and_ends_identical(self) -> None:
        account, file = prepared(6_000), service().folder / "killed.db"
        products = Quartermaster(account.url, account.key).products
        chance = random.Random(20_261_119)
        lasting = 5_000
        present: List[int] = []

        def start() -> "subprocess.Popen[bytes]":
            command = [sys.executable, str(ROOT / "examples/sync.py"), str(file)]
            program = subprocess.Popen(command, env=environment(account), stdout=subprocess.DEVNULL)
            self.addCleanup(program.wait)
            self.addCleanup(program.kill)
            return program

        def query(sql: str) -> Any:
            with contextlib.closing(sqlite3.connect(file, timeout=60)) as db:
                return db.execute(sql).fetchone()

        def is_walking() -> bool:
            (state,) = query("select state from sync_state")
            return '"is_walking": true' in state

        program = start()
        eventually(lambda: file.exists() and query("select 1 from sqlite_master where name = 'sync_state'") and query("select 1 from sync_state") and not is_walking())
        program.kill()
        kills, lost = 0, 0
        while kills < KILLS:
            # Some records are gone that the feed does not mention: only a sweep can delete them from the copy.
            if not is_walking():
                lost += 1
                service().lose_track(account, f"id = {lasting + lost}")
            pages = chance.randint(1, 3)
            program = start()

            def kill(path: str, body: bytes) -> None:
                nonlocal pages
                if "/changes" not in path or b'"meta"' not in body:
                    return
                pages -= 1
                if pages == 0:
                    # Before, while or after the program stores the page.
                    if chance.random() < 0.5:
                        program.send_signal(signal.SIGKILL)
                    else:
                        kill_later(program, chance.random() * 0.05)

            account.proxy.before_response = kill
            eventually(lambda: program.poll() is not None, "the program was not killed")
            account.proxy.before_response = lambda _path, _body: None
            self.assertEqual(program.returncode, -signal.SIGKILL)
            kills += 1
            present.append(query(f"select count(*) from product where id <= {lasting}")[0])
            products.update(chance.randint(1, lasting), {"name": f"changed at kill {kills}"})
        self.assertEqual(present, [lasting] * KILLS)
        self.assertGreater(lost, 0)
        start()
        eventually(lambda: not is_walking() and self.in_copy(file) == self.in_api(account), "the copy did not become identical")
        self.assertEqual(len(self.in_copy(file)), 6_000 - lost)


def kill_later(program: "subprocess.Popen[bytes]", seconds: float) -> None:
    def later() -> None:
        time.sleep(seconds)
        program.send_signal(signal.SIGKILL)

    threading.Thread(target=later, daemon=True).start()
