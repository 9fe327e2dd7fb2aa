"""What `/manage/v1` offers to an administrator of the account. Needs a key with the scope `account:manage`."""

from __future__ import annotations

import re
from typing import Any, Dict, Generic, Mapping, Optional, Sequence, TypeVar, Union, cast

from ._json import dumps, exact
from ._resource import Filter, Page, names_of, new_key, page_of, text_of
from ._sender import JSON, Call, Sender, list_call
from ._wire import DECIMALS, PATHS, Audit, Delivery, Key, LoggedRequest, NewKey, Usage, Webhook, WebhookSecret, WebhookTest

R = TypeVar("R", bound=Mapping[str, Any])

#: The new key is valid for as long as the old one was.
AS_BEFORE = "as before"


class View(Generic[R]):
    """A list for administrators. R: an entry."""

    def __init__(self, sender: Sender, name: str) -> None:
        self._sender = sender
        self._path = PATHS[name]
        self._decimals = DECIMALS[name]

    def list(
        self,
        *,
        fields: Optional[Sequence[str]] = None,
        filter: Optional[Filter] = None,
        page: Optional[int] = None,
        limit: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> Page[R]:
        """One page of the matching entries, newest first. New entries move others to later pages: add a condition on the time."""
        return self._list({"fields": names_of(fields), "filter": text_of(filter), "page": page, "limit": limit}, timeout)

    def _list(self, parameters: Mapping[str, object], timeout: Optional[float]) -> Page[R]:
        return page_of(self._sender.send(list_call(self._path, parameters, timeout=timeout)), self._decimals)

    def _one(self, entry_id: str, fields: Optional[Sequence[str]], timeout: Optional[float]) -> R:
        call = list_call(self._path + _path_of(entry_id), {"fields": names_of(fields)}, timeout=timeout)
        return cast(R, exact(self._sender.send(call).json()["data"], self._decimals))

    def _write(
        self,
        path: str,
        timeout: Optional[float],
        *,
        method: str = "POST",
        body: Optional[Mapping[str, object]] = None,
        idempotency_key: Optional[str] = None,
        once_only: bool = False,
    ) -> Any:
        """Sends a write, and returns `data` of the response."""
        headers = {"accept": JSON}
        if body is not None:
            headers["content-type"] = JSON
        if idempotency_key is not None:
            headers["idempotency-key"] = idempotency_key
        sent = None if body is None else dumps(body)
        call = Call(method, self._path + path, headers, sent, timeout=timeout, once_only=once_only)
        reply = self._sender.send(call)
        return None if reply.body == b"" else exact(reply.json()["data"], self._decimals)


class UsageView(View[Usage]):
    """Numbers and durations of requests by key and route."""

    def list(
        self,
        *,
        per: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        filter: Optional[Filter] = None,
        page: Optional[int] = None,
        limit: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> Page[Usage]:
        """`per`: whether each entry is for a `day`, the default, or for a `minute`."""
        parameters = {"fields": names_of(fields), "filter": text_of(filter), "page": page, "limit": limit, "per": per}
        return self._list(parameters, timeout)


class Keys(View[Key]):
    """The API keys of the account."""

    def get(self, key_id: str, *, fields: Optional[Sequence[str]] = None, timeout: Optional[float] = None) -> Key:
        """Raises NotFound if the account has no such key."""
        return self._one(key_id, fields, timeout)

    def create(
        self,
        *,
        name: str,
        scopes: Sequence[str],
        expires_at: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> NewKey:
        """
        Creates one key, even if the request is retried. Only this response has the key itself. If it is lost, the retry raises Conflict
        with the code `key_already_created` and the id of the key: revoke that key, and create another. `expires_at` is a date or
        date-time in the future; None: never.
        """
        body = {"name": name, "scopes": list(scopes), "expires_at": expires_at}
        return cast(NewKey, self._write("", timeout, body=body, idempotency_key=idempotency_key or new_key()))

    def rotate(
        self,
        key_id: str,
        *,
        overlap_seconds: int,
        expires_at: Optional[str] = AS_BEFORE,
        timeout: Optional[float] = None,
    ) -> NewKey:
        """
        Replaces a key. The old one stays valid for `overlap_seconds`; 0 revokes it at once. By default the new key is valid for as long
        as the old one was. A retry after a lost response raises Conflict with the code `key_not_active`, and names the new key's id.
        """
        body: Dict[str, object] = {"overlap_seconds": overlap_seconds}
        if expires_at is not AS_BEFORE:
            body["expires_at"] = expires_at
        return cast(NewKey, self._write(f"{_path_of(key_id)}/rotate", timeout, body=body))

    def revoke(self, key_id: str, *, timeout: Optional[float] = None) -> Key:
        """From the next request on, the key is rejected. Revoking it again changes nothing."""
        return cast(Key, self._write(f"{_path_of(key_id)}/revoke", timeout))


class Webhooks(View[Webhook]):
    """
    Endpoints of receivers. `create`, `rotate` and `delete` are retried only if the service has refused them: a second webhook, or a
    second new secret, would not be harmless. If one fails without a response, list the webhooks.
    """

    def get(self, webhook_id: str, *, fields: Optional[Sequence[str]] = None, timeout: Optional[float] = None) -> Webhook:
        """Raises NotFound if the account has no such webhook."""
        return self._one(webhook_id, fields, timeout)

    def create(self, webhook: Mapping[str, object], *, timeout: Optional[float] = None) -> WebhookSecret:
        """
        Creates a webhook: `{"resource": "product", "url": "https://…"}`, and optionally `filter`, `fields` and `since`. The response has
        the secret with which the receiver verifies messages. Nothing is sent before `activate`.
        """
        return cast(WebhookSecret, self._write("", timeout, body=webhook, once_only=True))

    def change(self, webhook_id: str, change: Mapping[str, object], *, timeout: Optional[float] = None) -> Webhook:
        """Changes `url`, `filter` or `fields`. After a change of its URL, a webhook must be activated again."""
        return cast(Webhook, self._write(_path_of(webhook_id), timeout, method="PATCH", body=change))

    def delete(self, webhook_id: str, *, timeout: Optional[float] = None) -> None:
        self._write(_path_of(webhook_id), timeout, method="DELETE", once_only=True)

    def activate(self, webhook_id: str, *, timeout: Optional[float] = None) -> Webhook:
        """Sends a challenge, and begins or resumes if the receiver returns it. Otherwise raises Conflict with the code `webhook_unverified`."""
        return cast(Webhook, self._write(f"{_path_of(webhook_id)}/activate", timeout))

    def pause(self, webhook_id: str, *, timeout: Optional[float] = None) -> Webhook:
        """Nothing is sent before the webhook is activated again."""
        return cast(Webhook, self._write(f"{_path_of(webhook_id)}/pause", timeout))

    def rotate(self, webhook_id: str, *, timeout: Optional[float] = None) -> WebhookSecret:
        """Returns a new secret. For a day messages have a second signature by the old one: pass both to `verify_webhook`."""
        return cast(WebhookSecret, self._write(f"{_path_of(webhook_id)}/rotate", timeout, once_only=True))

    def replay(self, webhook_id: str, *, since: Union[str, int], timeout: Optional[float] = None) -> Webhook:
        """Sends the changes after another position again, as they are now: `beginning`, `now`, a version, or a cursor."""
        return cast(Webhook, self._write(f"{_path_of(webhook_id)}/replay", timeout, body={"since": since}))

    def test(self, webhook_id: str, *, timeout: Optional[float] = None) -> WebhookTest:
        """Sends a test message, and returns what the receiver responded."""
        return cast(WebhookTest, self._write(f"{_path_of(webhook_id)}/test", timeout))


class Manage:
    def __init__(self, sender: Sender) -> None:
        self.keys = Keys(sender, "key")
        self.webhooks = Webhooks(sender, "webhook")
        #: What was sent to the webhooks in the last 14 days.
        self.deliveries: View[Delivery] = View(sender, "delivery")
        self.usage = UsageView(sender, "usage")
        #: The request log of the last 14 days.
        self.requests: View[LoggedRequest] = View(sender, "request")
        #: Every change of the account, its keys and its webhooks.
        self.audit: View[Audit] = View(sender, "audit")


def _path_of(entry_id: str) -> str:
    """A text with another character would be another path."""
    if isinstance(entry_id, str) and re.fullmatch(r"[A-Za-z0-9_-]+", entry_id):
        return f"/{entry_id}"
    raise ValueError(f"{entry_id!r} is not the id of a key or webhook.")
