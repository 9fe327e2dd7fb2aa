"""The command: `python3 -m quartermaster types --url https://acme.example.com < key.txt`"""

from __future__ import annotations

import argparse
import sys
from typing import Optional, Sequence

from ._account_types import account_types
from ._errors import QuartermasterError


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m quartermaster", description="The Python client of Quartermaster.")
    commands = parser.add_subparsers(dest="command", required=True)
    purpose = "Writes the fields that an account has declared to stdout, as a module with TypedDicts. Reads an API key from stdin."
    types = commands.add_parser("types", help="write the fields of an account as TypedDicts", description=purpose)
    types.add_argument("--url", required=True, help="URL of the account's host, such as https://acme.example.com")
    options = parser.parse_args(arguments)
    try:
        text = account_types(options.url, sys.stdin.read().strip())
    except (QuartermasterError, ValueError) as error:
        print(f"{error}", file=sys.stderr)
        return 1
    # Whatever the encoding of the terminal: Python reads sources as UTF-8.
    sys.stdout.buffer.write(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
