"""The change feed: changes, watch and sync, and a copy that outlives failures and expired cursors."""

import itertools
import json
import threading
import unittest
from decimal import Decimal
from typing import Any, Dict, List, Optional

from quartermaster import CursorExpired, Quartermaster, RequestInvalid, SyncBatch, SyncState, field

from .service import eventually, service

PATH = "/api/v1/inventory/product/changes"


class Feed(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.account = service().account("external")
        cls.qm = Quartermaster(cls.account.url, cls.account.key, retry_for=0)
        cls.products = cls.qm.products
        # Writes past the proxy's faults.
        cls.writer = Quartermaster(cls.account.url, cls.account.key).products

    def setUp(self) -> None:
        self.write(delete=[record["id"] for record in self.writer.all(fields=["id"])])

    def write(self, names: Optional[Dict[int, str]] = None, delete: Any = ()) -> None:
        rows = [{"id": one, "name": name} for one, name in (names or {}).items()]
        self.writer.upsert([*rows, *({"$delete": one} for one in delete)])

    def names(self) -> Dict[int, str]:
        return {record["id"]: record["name"] for record in self.writer.all(fields=["id", "name"])}

    def summary(self, changes: Any) -> List[str]:
        return [f"{one.change} {one.id}" for one in changes]

    def test_changes_has_every_record_and_then_what_has_changed_since_its_cursor(self) -> None:
        self.write({1: "one", 2: "two", 3: "three"})
        changes = self.products.changes(fields=["name", "list_price"], limit=2)
        got = [one for one in changes if one.record is not None]
        self.assertEqual(self.summary(got), ["created 1", "created 2", "created 3"])
        self.assertEqual([one.record["name"] for one in got if one.record], ["one", "two", "three"])
        self.assertEqual({type(one.record["list_price"]) for one in got if one.record}, {Decimal})
        self.write({2: "TWO"}, [1])
        with self.assertRaises(RequestInvalid):
            list(self.products.changes(since=changes.cursor, filter=field.id > 0))
        self.assertEqual(sorted(self.summary(self.products.changes(since=changes.cursor))), ["deleted 1", "updated 2"])

    def test_the_cursor_of_each_change_leads_to_all_that_follow_it(self) -> None:
        start = self.products.changes(since="now")
        self.assertEqual(list(start), [])
        self.write({one: str(one) for one in range(1, 6)})
        changes = list(self.products.changes(since=start.cursor, limit=2))
        self.assertEqual(self.summary(changes), [f"created {one}" for one in range(1, 6)])
        for at, change in enumerate(changes):
            rest = {one.id for one in self.products.changes(since=change.cursor)}
            self.assertLessEqual({one.id for one in changes[at + 1 :]}, rest)

    def test_changes_waits_for_the_first_change(self) -> None:
        start = self.products.changes(since="now")
        list(start)
        got: List[str] = []
        thread = threading.Thread(target=lambda: got.extend(self.summary(self.products.changes(since=start.cursor, wait=30))))
        thread.start()
        self.write({7: "seven"})
        thread.join()
        self.assertEqual(got, ["created 7"])

    def test_the_cursor_of_an_export_continues_it(self) -> None:
        self.write({1: "one"})
        export = self.products.export()
        self.assertEqual([record["id"] for record in export], [1])
        self.write({2: "two"})
        self.assertEqual(self.summary(self.products.changes(since=export.cursor)), ["created 2"])

    def test_watch_resumes_after_failures_and_ends_when_it_is_stopped(self) -> None:
        stop = threading.Event()
        start = self.products.changes(since="now")
        list(start)
        ids: List[int] = []

        def watch() -> None:
            for change in self.products.watch(since=str(start.cursor), stop=stop):
                ids.append(change.id)

        self.account.proxy.lost[PATH] = 3
        thread = threading.Thread(target=watch)
        thread.start()
        for one in range(1, 6):
            self.write({one: str(one)})
            eventually(lambda: one in ids)
        stop.set()
        self.write({6: "wakes it"})
        thread.join()
        self.assertEqual((sorted(set(ids) - {6}), self.account.proxy.lost[PATH]), ([1, 2, 3, 4, 5], 0))

    def test_watch_raises_if_changes_may_be_missing(self) -> None:
        self.write({1: "one"})
        changes = self.products.changes()
        list(changes)
        service().lose_track(self.account)
        with self.assertRaises(CursorExpired):
            next(self.products.watch(since=str(changes.cursor)))

    def test_sync_keeps_a_copy_through_failures_and_an_expired_cursor_and_it_never_has_fewer_records(self) -> None:
        self.write({one: f"p{one}" for one in range(1, 2_346)})
        stop, copy = threading.Event(), Copy()
        every = itertools.count(1)

        def lose(path: str, _body: bytes) -> None:
            if path.startswith(PATH) and next(every) % 3 == 0:
                raise ConnectionResetError

        self.account.proxy.before_response = lose
        self.addCleanup(setattr, self.account.proxy, "before_response", lambda _path, _body: None)

        def follow() -> None:
            for batch in self.products.sync(fields=["id", "name"], stop=stop):
                copy.apply(batch)

        thread = threading.Thread(target=follow)
        thread.start()
        eventually(lambda: copy.sweeps == 1 and copy.names() == self.names())
        first = copy.walk
        copy.least = len(copy.records)
        for one in range(1, 7):
            self.write({one: f"round {one}", 3_000: "new"}, [one + 100])
            eventually(lambda: copy.names() == self.names())
        self.assertEqual((copy.walk, copy.sweeps), (first, 1))
        service().lose_track(self.account, "id = 2000")
        eventually(lambda: copy.names() == self.names())
        self.assertEqual((copy.sweeps, copy.least, len(copy.records)), (2, 2_339, 2_339))
        self.assertNotEqual(copy.walk, first)
        stop.set()
        self.write({1: "wakes it"})
        thread.join()
        self.assertGreater(next(every), 10)

    def test_sync_continues_a_walk_that_was_interrupted_with_its_mark(self) -> None:
        self.write({one: f"p{one}" for one in range(1, 2_501)})
        copy = Copy()
        copy.apply(next(self.products.sync()))
        first = copy.stored()
        self.assertEqual((first["is_walking"], len(copy.records)), (True, 1_000))
        self.write({1: "one"}, [2, 2_400])
        for batch in self.products.sync(since=first):
            copy.apply(batch)
            if batch.sweep:
                break
        self.assertEqual((copy.walk, copy.stored()["is_walking"], copy.names()), (first["walk"], False, self.names()))

    def test_sync_sweeps_what_the_walk_has_not_seen(self) -> None:
        self.write({1: "one", 2: "two", 3: "three"})
        copy = Copy()
        copy.records[99] = ("gone", "before")
        batch = next(self.products.sync(filter="name*t"))
        self.assertEqual((batch.sweep, batch.deleted, [record["id"] for record in batch.upserted]), (True, [], [2, 3]))
        copy.apply(batch)
        self.assertEqual(sorted(copy.records), [2, 3])
        self.write({2: "one"})
        after = next(self.products.sync(filter="name*t", since=copy.stored()))
        self.assertEqual((after.sweep, after.deleted, after.upserted), (False, [2], []))
        with self.assertRaises(RequestInvalid):
            next(self.products.sync(filter="name*o", since=copy.stored()))

    def test_sync_continues_an_export_from_its_cursor(self) -> None:
        self.write({1: "one", 2: "two", 3: "three"})
        export = self.products.export()
        self.assertEqual(len(list(export)), 3)
        self.write({2: "TWO"}, [3])
        batch = next(self.products.sync(since=export.cursor))
        self.assertEqual((batch.deleted, [record["name"] for record in batch.upserted], batch.sweep), ([3], ["TWO"], False))
        self.assertRegex(batch.state["walk"], "^[0-9a-f]{16}$")

    def test_sync_needs_the_ids_and_a_state_that_is_one(self) -> None:
        with self.assertRaisesRegex(ValueError, "fields must include id"):
            self.products.sync(fields=["name"])
        for wrong in ({"walk": None, "is_walking": True, "cursor": "b"}, {"walk": "a", "is_walking": 1, "cursor": "b"}, {"walk": "a"}, 5):
            with self.assertRaisesRegex(TypeError, "since must be the state"):
                next(self.products.sync(since=wrong))  # type: ignore[arg-type]


class Copy:
    """Applies batches as the guide does. Each record has the mark of the walk that saw it last."""

    def __init__(self) -> None:
        self.records: Dict[int, Any] = {}
        self.sweeps = 0
        self.least = 0
        self._state: Optional[SyncState] = None
        self._lock = threading.Lock()

    @property
    def walk(self) -> str:
        return self.stored()["walk"]

    def stored(self) -> SyncState:
        """As a program reads it back."""
        state: SyncState = json.loads(json.dumps(self._state))
        return state

    def names(self) -> Dict[int, str]:
        with self._lock:
            return {one: name for one, (name, _walk) in sorted(self.records.items())}

    def apply(self, batch: SyncBatch[Any]) -> None:
        with self._lock:
            walk = batch.state["walk"]
            for one in batch.deleted:
                self.records.pop(one, None)
            for record in batch.upserted:
                self.records[record["id"]] = (record["name"], walk)
            if batch.sweep:
                self.sweeps += 1
                self.records = {one: value for one, value in self.records.items() if value[1] == walk}
            self._state = batch.state
            self.least = min(self.least, len(self.records))
