"""Brings a copy of all products in SQLite up to date, with the standard library only."""

import json
import os
import sqlite3
import sys
import urllib.error
import urllib.parse
import urllib.request
from decimal import Decimal

CHANGES = os.environ["QUARTERMASTER_URL"] + "/api/v1/inventory/product/changes"
KEY = os.environ["QUARTERMASTER_KEY"]

db = sqlite3.connect(sys.argv[1] if len(sys.argv) > 1 else "products.db", isolation_level=None)
db.executescript("""
    create table if not exists product (id integer primary key, name text, list_price text);
    create table if not exists sync_state (cursor text);
""")


def page(cursor):
    query = {"fields": "id,name,list_price", "limit": 1000, **({} if cursor is None else {"since": cursor})}
    request = urllib.request.Request(f"{CHANGES}?{urllib.parse.urlencode(query)}", headers={"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request, timeout=60) as response:
        # Decimals keep every digit.
        return json.load(response, parse_float=Decimal)


def apply(change):
    if "record" in change:
        record = change["record"]
        db.execute("insert or replace into product values (?, ?, ?)", (record["id"], record["name"], str(record["list_price"])))
    else:
        db.execute("delete from product where id = ?", (change["id"],))


count, more = 0, True
while more:
    stored = db.execute("select cursor from sync_state").fetchone()
    restart = False
    try:
        got = page(stored and stored[0])
    except urllib.error.HTTPError as error:
        if error.code != 410:
            raise
        # The cursor has expired: deletions may be missing, so the copy starts again.
        got, restart = page(None), True
    db.execute("begin")
    if restart:
        db.execute("delete from product")
    for change in got["data"]:
        apply(change)
    db.execute("delete from sync_state")
    db.execute("insert into sync_state values (?)", (got["cursor"],))
    db.execute("commit")
    count, more = count + len(got["data"]), got["meta"]["more"]
print(f"{count} changes, {db.execute('select count(*) from product').fetchone()[0]} products in the copy")
