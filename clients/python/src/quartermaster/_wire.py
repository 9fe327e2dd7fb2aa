"""Generated from the OpenAPI document: node clients/python/generate-wire.ts"""

from decimal import Decimal
from typing import Dict, FrozenSet, List, Optional, TypedDict, Union


#: The path of each list.
PATHS: Dict[str, str] = {
    "product": "/api/v1/inventory/product",
    "partner": "/api/v1/resources/partner",
    "company": "/api/v1/resources/company",
    "key": "/manage/v1/keys",
    "audit": "/manage/v1/audit",
    "request": "/manage/v1/requests",
    "usage": "/manage/v1/usage",
    "field": "/manage/v1/fields",
    "webhook": "/manage/v1/webhooks",
    "delivery": "/manage/v1/deliveries",
}

#: The fields that are decimals.
DECIMALS: Dict[str, FrozenSet[str]] = {
    "product": frozenset({"list_price", "qty_available"}),
    "partner": frozenset(),
    "company": frozenset(),
    "key": frozenset(),
    "audit": frozenset(),
    "request": frozenset({"duration_ms"}),
    "usage": frozenset({"p50_ms", "p95_ms", "p99_ms"}),
    "field": frozenset(),
    "webhook": frozenset(),
    "delivery": frozenset({"duration_ms"}),
}


class Product(TypedDict):
    """A product of the inventory."""

    #: Identifies the record in its account and resource. Starts at 1 and is never reused.
    id: int
    #: The name.
    name: str
    #: The product code.
    default_code: Optional[str]
    #: The price, exact.
    list_price: Decimal
    #: The quantity on hand, exact.
    qty_available: Decimal
    #: Whether the product is in use. Lists include inactive products.
    active: bool
    #: The category.
    categ_id: Optional[int]
    #: The template.
    product_tmpl_id: Optional[int]
    #: Whether it is an RSD product; null if unknown.
    is_rsd_product: Optional[bool]
    #: When the record was created.
    create_date: str
    #: When the record was last changed.
    write_date: str


class Partner(TypedDict):
    """A customer, a vendor or an employee."""

    #: Identifies the record in its account and resource. Starts at 1 and is never reused.
    id: int
    #: The name.
    name: str
    #: Whether the partner is a company rather than a person.
    is_company: bool
    #: Whether the partner is a patient.
    is_patient: bool
    #: Whether the partner buys from the account.
    is_customer: bool
    #: Whether the account buys from the partner.
    is_vendor: bool
    #: Whether the partner works for the account.
    is_employee: bool
    #: The email address.
    email: Optional[str]
    #: The phone number.
    phone: Optional[str]
    #: Whether the partner is in use. Lists include inactive partners.
    active: bool
    #: When the record was created.
    create_date: str
    #: When the record was last changed.
    write_date: str


class Company(TypedDict):
    """A company of the account."""

    #: Identifies the record in its account and resource. Starts at 1 and is never reused.
    id: int
    #: The name.
    name: str
    #: The code of the company.
    company_code: Optional[str]
    #: A number as text, with leading zeros.
    branch_user: str
    #: When the record was created.
    create_date: str
    #: When the record was last changed.
    write_date: str


class Key(TypedDict):
    """An API key of the account. The key itself is shown once, when it is created."""

    #: Identifies the key. Not a secret.
    key_id: str
    #: What the key is for.
    name: str
    #: What the key may do. In a filter, a comma-separated text.
    scopes: List[str]
    #: active; rotating: replaced by another key, and valid until it expires; expired; revoked.
    state: str
    #: When it was created.
    created_at: str
    #: When it expires; null: never.
    expires_at: Optional[str]
    #: When it was revoked; null: not revoked.
    revoked_at: Optional[str]
    #: The key that replaces it.
    rotated_to: Optional[str]
    #: The day, in UTC, of its last accepted request; null: none yet.
    last_used_on: Optional[str]


class Audit(TypedDict):
    """A change of the account or of one of its keys: who, what, when, from where."""

    #: Identifies the entry within its account.
    id: str
    #: When the change was made.
    at: str
    #: The change: account.create, account.suspend, account.activate, account.limit, account.cors, account.restore, account.ids, account.import, account.export, key.create, key.rotate, key.revoke, webhook.create, webhook.change, webhook.activate, webhook.pause, webhook.rotate, webhook.replay, webhook.delete, field.create, field.change, field.delete, record.erase, record.erased.
    action: str
    #: What was changed: a key, webhook or field id, or an account or resource name.
    subject: str
    #: A description of the change.
    details: Optional[str]
    #: Who made the change: a key, or the operator.
    actor: str
    #: The key id, or the operator's user name.
    actor_id: str
    #: The request's User-Agent, or the command line.
    application: Optional[str]
    #: The client's address, or the operator's machine.
    address: Optional[str]


class LoggedRequest(TypedDict):
    """A request in the last 14 days with one of the account's keys."""

    #: Identifies the entry within its account.
    id: str
    #: When it was received.
    at: str
    #: As in `X-Request-Id` and in errors.
    request_id: str
    #: The request's key.
    key_id: str
    #: The method.
    method: str
    #: The path, decoded.
    path: str
    #: The parameters without the filter, decoded.
    query: Optional[str]
    #: The filter, decoded.
    filter: Optional[str]
    #: The status of the response.
    status: int
    #: The code of the error; null: no error.
    error_code: Optional[str]
    #: The detail of the error.
    error_detail: Optional[str]
    #: Milliseconds until the response was sent.
    duration_ms: Decimal
    #: Records in the response.
    records: int
    #: Bytes of the response body as sent.
    bytes: int
    #: Whether the response was cached or not modified, so nothing was read. False if the request shared a read with others.
    cached: bool


class Usage(TypedDict):
    """A key's requests on a route in a day or a minute."""

    #: When the day or minute began, in UTC.
    at: str
    #: The request's key.
    key_id: str
    #: Method and path, with {id} for an id.
    route: str
    #: The number of requests.
    requests: int
    #: Requests with a status of 400 or more.
    errors: int
    #: Requests missing from the request log, because they arrived faster than it could be written.
    unlogged: int
    #: The 50th percentile of the duration in milliseconds, within 5 %.
    p50_ms: Decimal
    #: The 95th percentile of the duration in milliseconds, within 5 %.
    p95_ms: Decimal
    #: The 99th percentile of the duration in milliseconds, within 5 %.
    p99_ms: Decimal


class Field(TypedDict):
    """A field that the account has declared for a resource, or has made unique."""

    #: Identifies the field: its resource and its name.
    id: str
    #: The resource: product, partner or company.
    resource: str
    #: The name of the field in records.
    name: str
    #: text, integer, decimal, boolean or timestamp.
    type: str
    #: What the field means, for people.
    label: str
    #: Whether values are unique, so that a record can be addressed by one.
    unique: bool
    #: ready; building: the values of existing records are being read; duplicates: two records have the same value, so the field is not unique.
    state: str
    #: When it was declared.
    created_at: str


class Webhook(TypedDict):
    """An endpoint that receives a resource's changes."""

    #: Identifies the webhook.
    id: str
    #: The resource: product, partner or company.
    resource: str
    #: The receiver's URL.
    url: str
    #: Only records that match this filter; null: all.
    filter: Optional[str]
    #: The fields that are sent; null: all. In a filter, a comma-separated text.
    fields: Optional[List[str]]
    #: pending: not activated yet; active; paused: by an administrator, or after failures; disabled: the receiver responded with 410.
    status: str
    #: Why it is paused or disabled: requested, failing, gone, cursor_expired, query_invalid.
    reason: Optional[str]
    #: When it was created.
    created_at: str
    #: When its secret was last rotated.
    rotated_at: Optional[str]
    #: The last version that was delivered completely.
    delivered_version: int
    #: Failed attempts since the last delivery.
    failures: int
    #: When the first of them was made.
    failing_since: Optional[str]
    #: The earliest time of the next attempt.
    due_at: str


class Delivery(TypedDict):
    """A message to the receiver of a webhook, in the last 14 days. Contents are not stored."""

    #: Identifies the entry within its account.
    id: str
    #: When the result was known.
    at: str
    #: The webhook.
    webhook_id: str
    #: The header webhook-id. Retries have the same id.
    message_id: str
    #: changes, challenge or test.
    kind: str
    #: The number of changes.
    changes: int
    #: The version up to which everything had been delivered before.
    from_version: int
    #: The version of the last change.
    to_version: int
    #: The status of the response; null: there was none.
    status: Optional[int]
    #: null: delivered. status: the status was not 2xx. challenge: the challenge was not returned. Otherwise why there was no response.
    error: Optional[str]
    #: Milliseconds until the response.
    duration_ms: Decimal


class _NewProductRequired(TypedDict):
    #: The name.
    name: str

class NewProduct(_NewProductRequired, total=False):
    #: The product code.
    default_code: Optional[str]
    #: The price, exact.
    list_price: Union[Decimal, int, str]
    #: The quantity on hand, exact.
    qty_available: Union[Decimal, int, str]
    #: Whether the product is in use. Lists include inactive products.
    active: bool
    #: The category.
    categ_id: Optional[int]
    #: The template.
    product_tmpl_id: Optional[int]
    #: Whether it is an RSD product; null if unknown.
    is_rsd_product: Optional[bool]


class _NewPartnerRequired(TypedDict):
    #: The name.
    name: str

class NewPartner(_NewPartnerRequired, total=False):
    #: Whether the partner is a company rather than a person.
    is_company: bool
    #: Whether the partner is a patient.
    is_patient: bool
    #: Whether the partner buys from the account.
    is_customer: bool
    #: Whether the account buys from the partner.
    is_vendor: bool
    #: Whether the partner works for the account.
    is_employee: bool
    #: The email address.
    email: Optional[str]
    #: The phone number.
    phone: Optional[str]
    #: Whether the partner is in use. Lists include inactive partners.
    active: bool


class _NewCompanyRequired(TypedDict):
    #: The name.
    name: str
    #: A number as text, with leading zeros.
    branch_user: str

class NewCompany(_NewCompanyRequired, total=False):
    #: The code of the company.
    company_code: Optional[str]


class _FaultRequired(TypedDict):
    code: str
    message: str

class Fault(_FaultRequired, total=False):
    """One fault of the request and its position."""

    #: The query parameter or header.
    parameter: str
    #: The position in a JSON body.
    pointer: str
    #: Position in the decoded parameter, in UTF-16 code units, from 0.
    offset: int
    length: int
    #: What is expected at this position.
    expected: List[str]
    #: The complete parameter, corrected, if a correction is known.
    suggestion: str


class NewKey(TypedDict):
    """An API key of the account. The key itself is shown once, when it is created."""

    #: The key itself, shown only once.
    key: str
    #: Identifies the key. Not a secret.
    key_id: str
    #: What the key is for.
    name: str
    #: What the key may do. In a filter, a comma-separated text.
    scopes: List[str]
    #: active; rotating: replaced by another key, and valid until it expires; expired; revoked.
    state: str
    #: When it was created.
    created_at: str
    #: When it expires; null: never.
    expires_at: Optional[str]
    #: When it was revoked; null: not revoked.
    revoked_at: Optional[str]
    #: The key that replaces it.
    rotated_to: Optional[str]
    #: The day, in UTC, of its last accepted request; null: none yet.
    last_used_on: Optional[str]


class WebhookSecret(TypedDict):
    """An endpoint that receives a resource's changes."""

    #: Identifies the webhook.
    id: str
    #: The resource: product, partner or company.
    resource: str
    #: The receiver's URL.
    url: str
    #: Only records that match this filter; null: all.
    filter: Optional[str]
    #: The fields that are sent; null: all. In a filter, a comma-separated text.
    fields: Optional[List[str]]
    #: pending: not activated yet; active; paused: by an administrator, or after failures; disabled: the receiver responded with 410.
    status: str
    #: Why it is paused or disabled: requested, failing, gone, cursor_expired, query_invalid.
    reason: Optional[str]
    #: When it was created.
    created_at: str
    #: When its secret was last rotated.
    rotated_at: Optional[str]
    #: The last version that was delivered completely.
    delivered_version: int
    #: Failed attempts since the last delivery.
    failures: int
    #: When the first of them was made.
    failing_since: Optional[str]
    #: The earliest time of the next attempt.
    due_at: str
    #: The secret that signs, in the format of Standard Webhooks.
    secret: str


class WebhookTest(TypedDict):
    message_id: str
    status: Optional[int]
    error: Optional[str]
    duration_ms: Decimal
