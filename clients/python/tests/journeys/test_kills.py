"""The service is killed while two programs write and one keeps a copy: what was asked for happened exactly once, and the copy is identical."""

import json
import os
import random
import sqlite3
import threading
import unittest
from decimal import Decimal
from typing import Any, Dict, List, Tuple

from quartermaster import Product, Quartermaster, SyncBatch

from .service import eventually, service

#: A short form has fewer.
KILLS = int(os.environ.get("PYTHON_KILLS", "20"))
SEED = 20_261_119


class MyProduct(Product):
    x_sku: str


class Kills(unittest.TestCase):
    def test_kills_of_the_service_lose_and_repeat_nothing(self) -> None:
        account = service().account("service")
        # Without a proxy between: the client meets the broken connections of the killed process.
        own = service().serve(QUARTERMASTER_DEFAULT_ACCOUNT=account.name)
        service().command("field", "create", "--account", account.name, "product", "x_sku", "text", "--unique")
        failures: List[BaseException] = []
        done = threading.Event()
        stop = threading.Event()
        writes = {"batches": 0, "single": 0}
        #: What the account must have at the end, by SKU: name and quantity.
        expected: Dict[str, Tuple[str, Decimal]] = {}
        with Quartermaster(own.url, account.key, retry_for=300) as qm:
            products = qm.products.typed(MyProduct)
            counted = products.create({"name": "Counted", "x_sku": "COUNTED", "qty_available": 0})
            copy = sqlite3.connect(service().folder / "copy.db", check_same_thread=False, isolation_level=None)
            self.addCleanup(copy.close)
            copy.executescript(
                "pragma journal_mode = wal; create table product (id integer primary key, sku text, name text, quantity text, walk text); create table state (state text)"
            )

            def guarded(work: Any) -> threading.Thread:
                def run() -> None:
                    try:
                        work()
                    except BaseException as error:
                        failures.append(error)
                        done.set()

                thread = threading.Thread(target=run)
                thread.start()
                return thread

            def batches() -> None:
                """By key: new rows, changed rows, deleted rows. Only this thread writes these SKUs."""
                chance = random.Random(SEED)
                while not done.is_set():
                    rows: List[Dict[str, Any]] = []
                    after = dict(expected)
                    # The service commits 1,000 rows at a time: a kill also falls between two transactions of a batch.
                    for _ in range(1_500 if chance.random() < 0.1 else chance.randint(1, 200)):
                        sku = f"B-{chance.randrange(1_500)}"
                        if chance.random() < 0.2:
                            rows.append({"$delete": {"x_sku": sku}})
                            after.pop(sku, None)
                        else:
                            name, quantity = f"n{chance.randrange(10**6)}", Decimal(chance.randrange(10**6)) / 1000
                            rows.append({"x_sku": sku, "name": name, "qty_available": quantity})
                            after[sku] = (name, quantity)
                    totals = products.upsert(rows, key="x_sku")
                    self.assertEqual((totals.read, totals.rejected), (len(rows), 0))
                    expected.clear()
                    expected.update(after)
                    writes["batches"] += 1

            singles: List[str] = []

            def single() -> None:
                """Creates and adjustments, which a second execution would falsify."""
                while not done.is_set():
                    at = writes["single"]
                    singles.append(f"S-{at}")
                    products.create({"name": f"Single {at}", "x_sku": f"S-{at}"})
                    products.adjust(counted, {"qty_available": 1})
                    writes["single"] += 1

            def follow() -> None:
                for batch in products.sync(fields=["id", "x_sku", "name", "qty_available"], stop=stop):
                    self.store(copy, batch)

            threads = [guarded(batches), guarded(single)]
            follower = guarded(follow)
            kills = 0
            chance = random.Random(SEED + 1)
            while kills < KILLS and not failures:
                # Not at a fixed time: after some more writes, so that every kill meets a service at work.
                before = sum(writes.values())
                goal = before + chance.randint(1, 6)
                eventually(lambda: sum(writes.values()) >= goal or failures, "the programs wrote nothing more")
                own.kill()
                kills += 1
                own.start()
            done.set()
            for thread in threads:
                thread.join()
            if failures:
                stop.set()
                raise failures[0]

            for sku in singles:
                expected[sku] = (f"Single {sku[2:]}", Decimal(0))
            expected["COUNTED"] = ("Counted", Decimal(writes["single"]))
            fields = ["x_sku", "name", "qty_available"]
            exported = list(products.export(fields=fields))
            self.assertEqual(len(exported), len(expected))
            self.assertEqual({one["x_sku"]: (one["name"], one["qty_available"]) for one in exported}, expected)
            eventually(lambda: failures or self.stored(copy) == expected, "the copy did not become identical")
            stop.set()
            products.update(counted, {"name": "wakes it"})
            follower.join()
            self.assertEqual(failures, [])
            self.assertEqual(kills, KILLS)
            self.assertGreater(min(writes["batches"], writes["single"]), KILLS // 2)

    def store(self, copy: sqlite3.Connection, batch: SyncBatch[MyProduct]) -> None:
        walk = batch.state["walk"]
        copy.execute("begin")
        copy.executemany("delete from product where id = ?", ((one,) for one in batch.deleted))
        copy.executemany(
            "insert or replace into product values (?, ?, ?, ?, ?)",
            ((one["id"], one["x_sku"], one["name"], str(one["qty_available"]), walk) for one in batch.upserted),
        )
        if batch.sweep:
            copy.execute("delete from product where walk <> ?", (walk,))
        copy.execute("delete from state")
        copy.execute("insert into state values (?)", (json.dumps(batch.state),))
        copy.execute("commit")

    def stored(self, copy: sqlite3.Connection) -> Dict[str, Tuple[str, Decimal]]:
        with sqlite3.connect(service().folder / "copy.db", timeout=60) as reader:
            rows = reader.execute("select sku, name, quantity from product").fetchall()
        reader.close()
        return {sku: (name, Decimal(quantity)) for sku, name, quantity in rows}
