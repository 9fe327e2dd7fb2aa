"""The fields that an account has declared, as a module with TypedDicts for `typed()`. It is made from `/openapi.json`, so any key will do."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Mapping

from . import _limits as limits
from ._errors import UnexpectedResponse
from ._sender import Call, Sender

#: The types of the client, and what reads them.
_RESOURCES = {"Product": "products", "Partner": "partners", "Company": "companies"}
_TYPES = {"integer": "int", "number": "Decimal", "string": "str", "boolean": "bool"}


def account_types(url: str, api_key: str) -> str:
    """The text of the module."""
    sender = Sender(url, api_key, timeout=limits.ATTEMPT_SECONDS, retry_for=0, cache=None, ssl_context=None)
    try:
        reply = sender.send(Call("GET", "/openapi.json"))
    finally:
        sender.close()
    try:
        return module_of(reply.json()["components"]["schemas"], url)
    except (KeyError, TypeError, ValueError) as cause:
        message = f"{url} does not describe its records as this version of the client expects: {cause!r}."
        raise UnexpectedResponse(message, code="response_unexpected", status=200, request_id=reply.request_id) from cause


def module_of(schemas: Mapping[str, Any], url: str) -> str:
    classes: List[str] = []
    for name, resource in _RESOURCES.items():
        record, new = _own_members(schemas[name]), _own_members(schemas[f"New{name}"])
        if not record:
            classes.append(f"{name} = quartermaster.{name}\nNew{name} = quartermaster.New{name}\n")
            continue
        classes.append(f'class {name}(quartermaster.{name}):\n    """Of `qm.{resource}.typed({name})`."""\n\n{record}')
        classes.append(f'class New{name}(quartermaster.New{name}, total=False):\n    """For `create`."""\n\n{new}')
    body = "\n\n".join(classes)
    used = [one for one in ("Optional", "Union") if f"{one}[" in body]
    imports = [
        *(["from decimal import Decimal"] if "Decimal" in body else []),
        *([f"from typing import {', '.join(used)}"] if used else []),
    ]
    return "\n".join(
        [
            f"# Written by: python3 -m quartermaster types --url {json.dumps(url)}",
            "",
            *imports,
            *([""] if imports else []),
            "import quartermaster",
            "",
            "",
            body,
        ]
    )


def _own_members(schema: Mapping[str, Any]) -> str:
    lines: List[str] = []
    for name, member in schema["properties"].items():
        # Other names are those of fields that every account has.
        if not name.startswith("x_"):
            continue
        # What a server sends becomes a program here.
        if re.fullmatch(r"x_[a-z][a-z0-9_]*", name) is None:
            raise ValueError(f"{name} is no name of a field")
        label = " ".join(str(member.get("description", "")).split())
        if label:
            lines.append(f"    #: {_visible(label)}\n")
        lines.append(f"    {name}: {_type_of(member)}\n")
    return "".join(lines)


def _visible(text: str) -> str:
    """Without control characters, of which some end a line."""
    return "".join(one if one.isprintable() else "·" for one in text)


def _type_of(member: Mapping[str, Any]) -> str:
    names: List[str] = [member["type"]] if isinstance(member["type"], str) else list(member["type"])
    types: Dict[str, None] = {}
    for name in names:
        if name == "null":
            continue
        types[_TYPES[name]] = None
        # A decimal that is sent may be an integer as well.
        if name == "number" and "string" in names:
            types["int"] = None
    plain = next(iter(types)) if len(types) == 1 else f"Union[{', '.join(types)}]"
    return f"Optional[{plain}]" if "null" in names else plain
