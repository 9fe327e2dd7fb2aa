"""Every record exactly once, against a miniature service: rows ordered by id, a version that every write increments, pages of the current rows."""

import random
import unittest
from typing import Any, Callable, Dict, List

from quartermaster import QueryTooSlow
from quartermaster._iterate import PagePosition, RecordPage, iterate


class Rows:
    def __init__(self, ids: List[int], limit: int, has_etag: bool = True) -> None:
        self.ids = ids
        self.limit = limit
        self.has_etag = has_etag
        self.version = 1
        self.requested: List[PagePosition] = []

    def page(self, position: PagePosition) -> RecordPage:
        self.requested.append(position)
        after, up_to = position.after or 0, 2**53 if position.up_to is None else position.up_to
        matches = [{"id": one} for one in self.ids if after < one <= up_to]
        end = position.page * self.limit
        return RecordPage(matches[end - self.limit : end], end >= len(matches), str(self.version) if self.has_etag else None)

    def delete(self, one: int) -> None:
        self.ids = [other for other in self.ids if other != one]
        self.version += 1

    def append(self, one: int) -> None:
        self.ids = [*self.ids, one]
        self.version += 1


def ids_of(rows: Rows, before: Callable[[], Any] = lambda: None) -> List[int]:
    def fetch(position: PagePosition) -> RecordPage:
        before()
        return rows.page(position)

    return [record["id"] for record in iterate(fetch)]


class Iterate(unittest.TestCase):
    def test_uses_page_numbers_while_the_version_stays_the_same(self) -> None:
        rows = Rows(list(range(1, 8)), 3)
        self.assertEqual(ids_of(rows), list(range(1, 8)))
        self.assertEqual(rows.requested, [PagePosition(page=page) for page in (1, 2, 3)])

    def test_ends_after_one_request_if_nothing_matches(self) -> None:
        rows = Rows([], 3)
        self.assertEqual((ids_of(rows), len(rows.requested)), ([], 1))

    def test_continues_after_the_last_id_if_the_version_changes(self) -> None:
        rows = Rows(list(range(1, 10)), 3)
        self.assertEqual(ids_of(rows, lambda: rows.delete(1) if len(rows.requested) == 1 else None), list(range(1, 10)))
        self.assertEqual(rows.requested[2], PagePosition(3, 51))

    def test_always_continues_by_key_if_responses_have_no_version(self) -> None:
        rows = Rows(list(range(1, 10)), 3, has_etag=False)
        self.assertEqual(ids_of(rows), list(range(1, 10)))
        self.assertEqual({one.page for one in rows.requested}, {1})

    def test_continues_by_key_if_a_page_number_exceeds_the_timeout_of_the_service(self) -> None:
        rows = Rows(list(range(1, 10)), 3)

        def fetch(position: PagePosition) -> RecordPage:
            if position.page == 2 and position.after is None:
                raise QueryTooSlow("too long", code="deadline_exceeded", status=504)
            return rows.page(position)

        self.assertEqual([record["id"] for record in iterate(fetch)], list(range(1, 10)))

    def test_raises_the_error_of_the_first_page(self) -> None:
        def fetch(_position: PagePosition) -> RecordPage:
            raise QueryTooSlow("too long", code="deadline_exceeded", status=504)

        with self.assertRaises(QueryTooSlow):
            next(iterate(fetch))

    def test_reaches_the_largest_id_in_fewer_than_16_requests(self) -> None:
        ids = [1, 2, 3, 4, 2**53 - 2]
        rows = Rows(ids, 2, has_etag=False)
        self.assertEqual(ids_of(rows), ids)
        self.assertLess(len(rows.requested), 16)

    def test_yields_every_record_that_exists_throughout_exactly_once_under_any_concurrent_writes(self) -> None:
        writes = 0
        for seed in range(2_000):
            chance = random.Random(seed)
            ids = sorted(chance.sample(range(1, 5_000), chance.randrange(120)))
            rows = Rows(ids, chance.randint(1, 9), chance.random() < 0.5)
            deleted = set()
            state: Dict[str, int] = {"next": 10_000, "requests": 0}

            def write() -> None:
                # Stop writing after 60 requests: iteration never ends if rows are appended faster than it reads.
                state["requests"] += 1
                if state["requests"] > 60 or chance.random() < 0.5:
                    return
                if rows.ids:
                    victim = chance.choice(rows.ids)
                    deleted.add(victim)
                    rows.delete(victim)
                if chance.random() < 0.5:
                    rows.append(state["next"])
                    state["next"] += 1

            seen = ids_of(rows, write)
            writes += rows.version - 1
            self.assertEqual(seen, sorted(set(seen)), f"seed {seed}")
            self.assertEqual([one for one in ids if one not in deleted and one not in set(seen)], [], f"seed {seed}")
        self.assertGreater(writes, 10_000)
