"""Keeps the stock of a warehouse and Quartermaster in step, both ways, by SKU. Products have a unique field x_sku."""

import http.client
import json
import os
import random
import sqlite3
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from decimal import Decimal

PRODUCTS = os.environ["QUARTERMASTER_URL"] + "/api/v1/inventory/product"
KEY = os.environ["QUARTERMASTER_KEY"]
ROWS_MAX = 1000
ATTEMPTS_MAX = 20
PAUSE_SECONDS_MAX = 10

# In this example, the warehouse is a SQLite database. `changed` counts the changes of people that Quartermaster has not confirmed,
# and `deleted` has what they deleted. `id` is only there to apply deletes, which the feed sends by id.
warehouse = sqlite3.connect(sys.argv[1] if len(sys.argv) > 1 else "warehouse.db", timeout=10, isolation_level=None)
warehouse.executescript("""
    pragma journal_mode = wal;
    create table if not exists product (sku text primary key, name text not null, quantity text not null default '0',
      changed integer not null default 1, id integer unique);
    create table if not exists deleted (sku text primary key);
    create table if not exists state (one integer primary key check (one = 1), cursor text);
    insert or ignore into state values (1, null);
""")


@contextmanager
def transaction():
    """Begins with the lock for writes: people and this program change the warehouse at the same time."""
    warehouse.execute("begin immediate")
    try:
        yield
        warehouse.execute("commit")
    except BaseException:
        warehouse.execute("rollback")
        raise


def request(path, body=None):
    """The body of the response. Repeats what may succeed later: every request of this program may be sent twice."""
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/x-ndjson"}
    for attempt in range(1, ATTEMPTS_MAX + 1):
        pause = random.random() * min(2**attempt / 10, PAUSE_SECONDS_MAX)
        try:
            sent = urllib.request.Request(PRODUCTS + path, body, headers)
            with urllib.request.urlopen(sent, timeout=60) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503, 504) or attempt == ATTEMPTS_MAX:
                raise
            pause += float(error.headers.get("retry-after", 0))
        except (OSError, http.client.HTTPException):
            if attempt == ATTEMPTS_MAX:
                raise
        time.sleep(pause)


def receive():
    """Applies what was created, changed and deleted in Quartermaster since the stored cursor."""
    received = 0
    while True:
        (cursor,) = warehouse.execute("select cursor from state").fetchone()
        since = {} if cursor is None else {"since": cursor}
        query = urllib.parse.urlencode({"fields": "name,qty_available,x_sku", "limit": ROWS_MAX, **since})
        try:
            page = json.loads(request(f"/changes?{query}"), parse_float=Decimal)
        except urllib.error.HTTPError as error:
            if error.code != 410:
                raise
            # The cursor has expired. From the beginning, the feed sends every product; what it does not send is swept.
            with transaction():
                warehouse.execute("update product set id = null")
                warehouse.execute("update state set cursor = null")
            continue
        with transaction():
            for change in page["data"]:
                apply(change)
            warehouse.execute("update state set cursor = ?", (page["cursor"],))
            if not page["meta"]["more"]:
                # Sent and confirmed before, but not in the feed: deleted in Quartermaster.
                warehouse.execute("delete from product where id is null and changed = 0")
        received += len(page["data"])
        if not page["meta"]["more"]:
            return received


def apply(change):
    id, record = change["id"], change.get("record")
    if record is None or record["x_sku"] is None:
        warehouse.execute("delete from product where id = ?", (id,))
        return
    sku, name, quantity = record["x_sku"], record["name"], str(record["qty_available"])
    # A product that was deleted in the warehouse does not come back.
    if warehouse.execute("select 1 from deleted where sku = ?", (sku,)).fetchone():
        return
    # A product that got another SKU in Quartermaster.
    warehouse.execute("update or replace product set sku = ? where id = ? and sku <> ?", (sku, id, sku))
    # A quantity that was counted here is not overwritten.
    warehouse.execute(
        """insert into product (sku, name, quantity, changed, id) values (?, ?, ?, 0, ?)
           on conflict (sku) do update set id = excluded.id, name = excluded.name,
             quantity = iif(changed > 0, quantity, excluded.quantity)""",
        (sku, name, quantity, id),
    )


def send():
    """Sends what people have changed and deleted. What is rejected is sent again by the next run, until it is corrected."""
    skus = [sku for (sku,) in warehouse.execute("select sku from deleted limit ?", (ROWS_MAX,))]
    rejected = batch([{"$delete": {"x_sku": sku}} for sku in skus], "update")
    with transaction():
        for at, sku in enumerate(skus):
            if at not in rejected:
                warehouse.execute("delete from deleted where sku = ?", (sku,))
    # A product that was read in Quartermaster is not created again if it was deleted there.
    new = changed_products("id is null")
    rows = [{"x_sku": sku, "name": name, "qty_available": quantity} for sku, name, quantity, _ in new]
    confirm(new, batch(rows, "upsert"))
    counted = changed_products("id is not null")
    rows = [{"x_sku": sku, "qty_available": quantity} for sku, _, quantity, _ in counted]
    confirm(counted, batch(rows, "update"))
    return len(skus) + len(new) + len(counted)


def changed_products(condition):
    return warehouse.execute(
        f"select sku, name, quantity, changed from product where changed > 0 and {condition} order by sku limit ?",
        (ROWS_MAX,),
    ).fetchall()


def confirm(products, rejected):
    with transaction():
        for at, (sku, _, _, changed) in enumerate(products):
            if at in rejected:
                print(f"product {sku}: {rejected[at]['field']} {rejected[at]['reason']}", file=sys.stderr)
            else:
                # Only if nobody has changed it again since it was read.
                warehouse.execute("update product set changed = 0 where sku = ? and changed = ?", (sku, changed))


def batch(rows, mode):
    """Writes rows, and returns those that were rejected, by their position."""
    if not rows:
        return {}
    body = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    for _ in range(ATTEMPTS_MAX):
        lines = [json.loads(line) for line in request(f"/batch?key=x_sku&mode={mode}", body).splitlines()]
        if lines and "$end" in lines[-1]:
            return {line["line"] - 1: line for line in lines[:-1]}
        # It ended early. Rows that were written are unchanged when they are sent again.
        time.sleep(1)
    raise RuntimeError(f"the batch ended with {lines[-1:]}")


seconds = float(sys.argv[2]) if len(sys.argv) > 2 else None
while True:
    print(f"received {receive()}, sent {send()}", flush=True)
    if seconds is None:
        break
    time.sleep(seconds)
