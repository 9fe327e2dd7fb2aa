"""Keeps a copy of all products in SQLite, until you stop it."""

import json
import os
import sqlite3
import sys

from quartermaster import Quartermaster

# Any database with transactions will do. Each record has the mark of the walk that saw it last.
db = sqlite3.connect(sys.argv[1] if len(sys.argv) > 1 else "products.db", timeout=10, isolation_level=None)
db.executescript("""
    pragma journal_mode = wal;
    create table if not exists product (id integer primary key, name text, list_price text, walk text);
    create table if not exists sync_state (resource text primary key, state text);
""")
stored = db.execute("select state from sync_state where resource = 'product'").fetchone()
since = None if stored is None else json.loads(stored[0])

with Quartermaster(os.environ["QUARTERMASTER_URL"], os.environ["QUARTERMASTER_KEY"]) as qm:
    for batch in qm.products.sync(fields=["id", "name", "list_price"], since=since):
        walk = batch.state["walk"]
        # One transaction for everything in the batch: after a kill, the state belongs to what the copy has.
        db.execute("begin")
        db.executemany("delete from product where id = ?", [(id,) for id in batch.deleted])
        db.executemany(
            "insert or replace into product values (?, ?, ?, ?)",
            [(product["id"], product["name"], str(product["list_price"]), walk) for product in batch.upserted],
        )
        if batch.sweep:
            db.execute("delete from product where walk <> ?", (walk,))
        db.execute("insert or replace into sync_state values ('product', ?)", (json.dumps(batch.state),))
        db.execute("commit")
        complete = ", copy complete" if batch.sweep else ""
        print(f"{len(batch.upserted)} stored, {len(batch.deleted)} deleted{complete}", flush=True)
