import type { Operator } from '@quartermaster/filter'
import { type FieldType, operatorsOf } from '../../catalog/field.ts'
import { errorCodes } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'

/** The meaning of each operator, in the order of the specification. */
const meanings: Record<Operator, string> = {
  '=': 'equals; for a timestamp: is within the period that the value names',
  '!=': 'does not equal',
  '*': 'contains, case-insensitively',
  '!*': 'does not contain',
  '>': 'is greater or later',
  '>=': 'is greater or equal',
  '<': 'is less or earlier',
  '<=': 'is less or equal',
  '[]': 'is one of: `categ_id[3,7]`',
  '![]': 'is none of: `categ_id![3,7]`',
}

/** A condition for each field type. */
const values: Record<FieldType, string> = {
  text: '`name*bolt`, `name="A, B & C"`',
  integer: '`categ_id[3,7]`',
  decimal: '`list_price>=12.5`',
  boolean: '`active=true`',
  timestamp: '`write_date>2026-11-14`',
}

const kilobytes = (bytes: number) => `${bytes / 1024} KB`

/** The description of the API, in Markdown. Its links lead to pages of the same deployment. */
export function introduction(): string {
  return `Each account has its own host, \`https://<account>.<service domain>\`, and its own API keys. Send a key as \`Authorization: Bearer qm_…\`. The [documentation](/docs/) has [guides](/docs/guides/) with complete programs for copies, writes and webhooks.

The samples read the account's URL from \`BASE_URL\` and a key from \`KEY\`.

## Pages

A list returns one page, ordered by \`id\` unless you \`sort\` it, and the exact total in \`meta.total\`. \`page\` and \`limit\` choose the page; the header \`Link\` has the URLs of the next and the last one. To read every record:

- **In one response:** send \`Accept: application/x-ndjson\` or \`text/csv\` without \`page\` and \`limit\`. The export streams all records of one snapshot.
- **Page by page while others write:** repeat the request with \`after_id\`, the last id that you have received.
- **Only what has changed:** \`…/changes?since=<cursor>\` returns changes. It can wait for the next change, or stream changes as Server-Sent Events.

Every list also takes the method \`QUERY\` (RFC 10008), with the same parameters in an \`application/x-www-form-urlencoded\` body, for filters that are too long for a URL. The header \`Accept-Query\` says so. OpenAPI 3.1 cannot describe that method.

## ETags

Lists and records have an \`ETag\`. Send it back as \`If-None-Match\`: if nothing has changed, the response is 304, without a body. To avoid overwriting someone else's change, send a record's \`ETag\` as \`If-Match\` with \`PATCH\` or \`DELETE\`: if the record has changed, the response is 412 and nothing is written.

## Idempotency

Send an \`Idempotency-Key\` of your own with a write, such as an order number, and retry as often as you need: within ${limits.idempotencyHours} hours the same request with the same key writes once, and returns the first response. [Errors and limits](/docs/guides/errors-and-limits.html) says what to retry.

## Limits

| What | Limit | Beyond it |
|---|---|---|
| Requests per minute, of an account and of a key | in \`RateLimit-Policy\`; \`RateLimit\` has the number left | 429 with \`Retry-After\` |
| Records per page | ${limits.pageRecordsMax} | 400 |
| URL | ${kilobytes(limits.urlBytesMax)} | 414: send \`QUERY\` |
| Body of a create or a patch; of a \`QUERY\` | ${kilobytes(limits.createBodyBytesMax)}; ${kilobytes(limits.queryBodyBytesMax)} | 413 |
| Rows of a batch | ${limits.batchRows} as JSON; any number as a stream | 400 |

## The filter language

A condition is a field, an operator and a value. \`&\` means and, \`|\` means or; \`&\` binds tighter, and parentheses group: \`active=true&(list_price<5|categ_id[3,7])\`. Enclose a value with reserved characters in double quotes, \`name="A, B & C"\`, or escape each with a backslash. \`null\` is the null value, \`"null"\` the text. \`!=\`, \`!*\` and \`![]\` also match records whose field is null.

${operatorTable()}

${typeTable()}

Numbers are compared exactly, as decimals. A timestamp is ISO 8601, in UTC if it has no time zone. It denotes the complete period that it names, a day, a second or a millisecond: \`write_date=2026-11-14\` matches any time of that day.

## Errors

Invalid input returns 400; nothing is ignored or corrected. Every error is \`application/problem+json\` (RFC 9457). Its \`type\` links to a page about it. Programs should use \`code\`, whose meaning never changes. \`errors[]\` lists each fault with its position and, if possible, a corrected text.

[All ${errorCodes.length} error codes](/reference/errors), with their status, when they occur and what to do.
`
}

function operatorTable(): string {
  const rows = Object.entries(meanings).map(([operator, meaning]) => `| \`${operator}\` | ${meaning} |`)
  return ['| Operator | The field |', '|---|---|', ...rows].join('\n')
}

function typeTable(): string {
  const rows = Object.entries(operatorsOf).map(([type, operators]) => {
    const [, example] = Object.entries(values).find(([name]) => name === type) ?? []
    return `| ${type} | ${operators.map((operator) => `\`${operator}\``).join(' ')} | ${example} |`
  })
  return ['| Field type | Operators | Example |', '|---|---|---|', ...rows].join('\n')
}
