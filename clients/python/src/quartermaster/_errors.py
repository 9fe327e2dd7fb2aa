"""The errors of the client. By its class a program decides what to do; `code` says exactly what happened."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Type, cast

from . import _limits as limits
from ._wire import Fault


class QuartermasterError(Exception):
    """The base class of this client's errors. It also raises TypeError and ValueError for invalid arguments."""

    #: For programs: an error code of the service, or one of this client.
    code: str
    #: The HTTP status; 0 if there was no response.
    status: int
    #: Identifies the request in the operator's log. Include it when you report a problem.
    request_id: Optional[str]

    def __init__(self, message: str, *, code: str, status: int = 0, request_id: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.request_id = request_id


class ApiError(QuartermasterError):
    """An error response of the service, or of a proxy in front of it."""

    #: All that is wrong with the request, as the service sends it.
    errors: List[Fault]
    #: Seconds after which a retry makes sense, if the response says so.
    retry_after: Optional[float]

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int,
        request_id: Optional[str] = None,
        errors: Sequence[Fault] = (),
        retry_after: Optional[float] = None,
        parameters: Optional[Mapping[str, str]] = None,
    ) -> None:
        super().__init__(message, code=code, status=status, request_id=request_id)
        self.errors = list(errors)
        self.retry_after = retry_after
        self._parameters = dict(parameters or {})


class RequestInvalid(ApiError):
    """400 and other 4xx without a class of their own: the request is invalid. Correct it; a retry would fail again."""

    @property
    def span(self) -> Optional[slice]:
        """Where the first fault is in the filter or other parameter, as it was sent: `text[error.span]`."""
        fault: Mapping[str, Any] = cast("Mapping[str, Any]", self.errors[0]) if self.errors else {}
        text = self._parameters.get(fault.get("parameter", ""))
        return None if text is None or "offset" not in fault else _span_of(text, fault)

    @property
    def suggestion(self) -> Optional[str]:
        """The complete parameter, corrected, if a correction is known. Show it to a person; do not send it unchecked."""
        return self.errors[0].get("suggestion") if self.errors else None


class Unauthenticated(ApiError):
    """401: no valid key of this account. Check the key and the host."""


class ScopeMissing(ApiError):
    """403: the key lacks the scope that this request needs."""


class NotFound(ApiError):
    """404 with the code `record_unknown`: the account has no record with this id. No other error means this."""


class BaseUrlInvalid(ApiError):
    """404 with any other code: the service has no such path. The record may exist. Correct `base_url`."""


class Conflict(ApiError):
    """409: the account is in a state in which this is not possible, such as with too many keys. `code` says what is in the way."""


class IdempotencyConflict(ApiError):
    """409 or 422: the idempotency key was used for another write, or that write is still running."""


class PreconditionFailed(ApiError):
    """412: another request has changed the record since the ETag of `if_match`. Nothing was written. Read it again."""


class CursorExpired(ApiError):
    """410: some changes after this cursor are no longer stored. Start again with a complete copy, as `sync()` does."""


class RateLimited(ApiError):
    """429: the account has sent more requests than its rate limit allows. The client retried for `retry_for` seconds."""


class Unavailable(ApiError):
    """502 or 503: the service is overloaded, restarting, or cannot reach its database. The client retried for `retry_for` seconds."""


class QueryTooSlow(ApiError):
    """
    504: the query exceeded the service's timeout. Narrow the filter. With the code `total_pending` the service goes on counting the
    total or the summary, and the client has retried; try again later.
    """


class ServiceFault(ApiError):
    """500 and other 5xx without a class of their own: a fault of the service. Report the request id."""


class ConnectionFailed(QuartermasterError):
    """
    No response: the connection was refused or broke (`connection_failed`), the host name does not exist (`host_unknown`), or TLS
    failed (`tls_failed`).
    """


class TimedOut(QuartermasterError):
    """No complete response within `timeout` seconds."""


class UnexpectedResponse(QuartermasterError):
    """The response is not from Quartermaster: another server is at base_url, or a proxy responded."""


class StreamTruncated(QuartermasterError):
    """An export ended before its end marker: the records that were read are not all."""

    #: The number of records received.
    count: int

    def __init__(self, message: str, *, count: int, request_id: Optional[str] = None) -> None:
        super().__init__(message, code="stream_truncated", status=200, request_id=request_id)
        self.count = count


class WebhookInvalid(QuartermasterError):
    """A request to a receiver of webhooks is not from Quartermaster, was changed, or is too old. Respond with 401."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="webhook_invalid")


_by_status: Dict[int, Type[ApiError]] = {
    401: Unauthenticated,
    403: ScopeMissing,
    410: CursorExpired,
    412: PreconditionFailed,
    422: IdempotencyConflict,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
    504: QueryTooSlow,
}


def error_class(status: int, code: str) -> Type[ApiError]:
    """By status, so that error codes which a later service adds have a class in this version."""
    if status == 404:
        # A sync deletes its copy of a record that is not found, so a wrong address must never raise NotFound.
        if code == "record_unknown":
            return NotFound
        return RequestInvalid if code == "key_unknown" else BaseUrlInvalid
    if status == 409:
        return IdempotencyConflict if code == "idempotency_conflict" else Conflict
    return _by_status.get(status) or (ServiceFault if status >= 500 else RequestInvalid)


def error_of_problem(
    problem: Mapping[str, Any], parameters: Mapping[str, str], retry_after: Optional[float] = None
) -> ApiError:
    """The error of a problem document (RFC 9457)."""
    status, code = int(problem["status"]), str(problem["code"])
    kind = error_class(status, code)
    message = _message_of(problem, parameters)
    if kind is BaseUrlInvalid:
        message += "\nCheck base_url: it is the address before /api/v1."
    return kind(
        message,
        code=code,
        status=status,
        request_id=problem.get("request_id"),
        errors=cast("List[Fault]", problem.get("errors") or []),
        retry_after=retry_after,
        parameters=parameters,
    )


def _message_of(problem: Mapping[str, Any], parameters: Mapping[str, str]) -> str:
    """For a person: the detail, the text with carets below the wrong part, a correction, and the request id."""
    lines = [str(problem["detail"])]
    faults = problem.get("errors") or [{}]
    text = parameters.get(faults[0].get("parameter", ""))
    if text is not None and "offset" in faults[0]:
        lines.append(caret(text, _span_of(text, faults[0])))
        if "suggestion" in faults[0]:
            lines.append(f"Suggestion: {faults[0]['suggestion']}")
    lines.append(f"({problem['code']}, request {problem.get('request_id')})")
    return "\n".join(lines)


def _span_of(text: str, fault: Mapping[str, Any]) -> slice:
    """The service counts UTF-16 code units, Python characters."""
    units = text.encode("utf-16-le", "surrogatepass")
    offset, length = int(fault["offset"]), int(fault.get("length", 1))

    def characters(end: int) -> int:
        return len(units[: 2 * end].decode("utf-16-le", "replace"))

    return slice(characters(offset), characters(offset + length))


def caret(text: str, span: slice) -> str:
    """The text with carets below the wrong part; of a long text, an excerpt around that part."""
    width = limits.EXCERPT_CHARACTERS
    start = 0 if len(text) <= width else max(0, min(span.start - width // 2, len(text) - width))
    shown = ("…" if start > 0 else "") + text[start : start + width] + ("…" if start + width < len(text) else "")
    before = span.start - start + (1 if start > 0 else 0)
    carets = max(1, min(span.stop - span.start, len(shown) - before))
    # Control characters would move the carets to another line or column: show each as one visible character.
    visible = "".join("·" if ord(one) < 32 or 127 <= ord(one) < 160 else one for one in shown)
    return f"  {visible}\n  {' ' * before}{'^' * carets}"
