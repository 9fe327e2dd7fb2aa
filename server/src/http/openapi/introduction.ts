import type { Operator } from '@quartermaster/filter'
import { type FieldType, operatorsOf } from '../../catalog/field.ts'
import { errorCodes } from '../../errors/errors.ts'

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

/** The description of the API, in Markdown. */
export function introduction(): string {
  return `Each account has its own host, \`https://<account>.<service domain>\`, and its own API keys. Lists are ordered by \`id\`, so that every record is on exactly one page. Invalid input results in 400; nothing is ignored.

Every list also supports the method \`QUERY\` (RFC 10008), with the same parameters in an \`application/x-www-form-urlencoded\` body, for filters that are too long for a URL. OpenAPI 3.1 cannot describe that method. Request a list with \`Accept: application/x-ndjson\` or \`text/csv\` to stream every record instead of a page.

To keep a copy in step, read a resource's changes: \`…/changes?since=<cursor>\`, by polling, by waiting for the next change, or as a stream of Server-Sent Events.

The samples read the account's URL from \`BASE_URL\` and a key from \`KEY\`.

## The filter language

A condition is a field, an operator and a value. \`&\` means and, \`|\` means or; \`&\` binds tighter, and parentheses group: \`active=true&(list_price<5|categ_id[3,7])\`. Enclose a value with reserved characters in double quotes, \`name="A, B & C"\`, or escape each with a backslash. \`null\` is the null value, \`"null"\` the text. \`!=\`, \`!*\` and \`![]\` also match records whose field is null.

${operatorTable()}

${typeTable()}

Numbers are compared exactly, as decimals. A timestamp is ISO 8601, in UTC if it has no time zone. It denotes the complete period that it names, a day, a second or a millisecond: \`write_date=2026-11-14\` matches any time of that day.

## Errors

Every error is \`application/problem+json\` (RFC 9457). Its \`type\` links to a page about it. Programs should use \`code\`, whose meaning never changes. \`errors[]\` lists each fault with its position and, if possible, a corrected text.

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
