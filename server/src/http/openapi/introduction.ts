import type { Operator } from '@quartermaster/filter'
import { type FieldType, operatorsOf } from '../../catalog/field.ts'
import { errorCodes, errorTitles } from '../../errors.ts'
import { statusOf } from '../problem.ts'

/** The operators in the order of the specification, with what they mean. */
const meanings: Record<Operator, string> = {
  '=': 'equals; of a timestamp: lies within the span that is named',
  '!=': 'does not equal',
  '*': 'contains, whatever the case',
  '!*': 'does not contain',
  '>': 'is greater, or later',
  '>=': 'is greater or equal',
  '<': 'is less, or earlier',
  '<=': 'is less or equal',
  '[]': 'is one of: `categ_id[3,7]`',
  '![]': 'is none of: `categ_id![3,7]`',
}

/** How a value of each type is written. */
const values: Record<FieldType, string> = {
  text: '`name*bolt`, `name="A, B & C"`',
  integer: '`categ_id[3,7]`',
  decimal: '`list_price>=12.5`',
  boolean: '`active=true`',
  timestamp: '`write_date>2026-11-14`',
}

/** What the paths of the document do not say by themselves. */
export function introduction(): string {
  return `Each account has its own host, \`https://<account>.<service domain>\`, and its own API keys. Lists are ordered by \`id\`, so that no record is on two pages or on none. Input that is not understood is answered with 400, never ignored.

Every list can also be asked by the method \`QUERY\` (RFC 10008) with the same parameters as an \`application/x-www-form-urlencoded\` body, for filters longer than a URL takes. OpenAPI 3.1 has no place for that method, so it is told here. With \`Accept: application/x-ndjson\` or \`text/csv\` a list comes whole, without pages.

The samples take the address of the account from \`BASE_URL\` and a key from \`KEY\`.

## The filter language

A condition is a field, an operator and a value. \`&\` joins conditions that all must hold, \`|\` those of which one must; \`&\` binds tighter, parentheses group: \`active=true&(list_price<5|categ_id[3,7])\`. A value with reserved characters goes in double quotes, \`name="A, B & C"\`, or has a backslash before each. \`null\` is the null value, \`"null"\` the text. \`!=\`, \`!*\` and \`![]\` also find records whose field is null.

${operatorTable()}

${typeTable()}

Numbers are compared exactly, as decimals. A timestamp is ISO 8601, in UTC where it has no zone, and stands for the whole span that it names, a day, a second or a millisecond: \`write_date=2026-11-14\` is any moment of that day.

## Errors

Every error is \`application/problem+json\` (RFC 9457). Its \`type\` leads to a page about it; programs go by \`code\`, which never changes its meaning. \`errors[]\` has each thing that is wrong, with its place and, where it can be told, the corrected text.

${errorTable()}
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
  return ['| Type of the field | Operators | For example |', '|---|---|---|', ...rows].join('\n')
}

function errorTable(): string {
  const rows = errorCodes.map(
    (code) => `| ${statusOf[code]} | [\`${code}\`](/reference/errors/${code}) | ${errorTitles[code]} |`,
  )
  return ['| Status | Code | What |', '|---|---|---|', ...rows].join('\n')
}
