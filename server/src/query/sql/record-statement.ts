import type { Field } from '../../catalog/field.ts'
import type { Resource } from '../../catalog/resources.ts'
import type { AccountScope } from '../../scope.ts'
import { identifier, placeholder, type Statement, sql, type Template, value } from '../../sql.ts'
import { currentLineageColumn, stateColumns, type TallyState } from '../../tally-state.ts'
import { memoize } from './memoize.ts'
import { recordJson } from './record-json.ts'

export interface RecordRow extends TallyState {
  /** The current lineage: with the version of the record, it identifies the record's content. */
  readonly lineage: string
  /** JSON; null if there is no record with this id. */
  readonly record: string | null
  readonly record_version: string | null
}

/** Tally and record in one statement, so from one snapshot. */
export function recordStatement(
  scope: AccountScope,
  resource: Resource,
  fields: readonly Field[],
  id: string,
): Statement {
  const template = memoize(templates, fields, () => recordTemplate(resource, fields))
  return template([scope.accountId, id])
}

const templates = new WeakMap<readonly Field[], Template>()

const account = placeholder()
const recordId = placeholder()

function recordTemplate(resource: Resource, fields: readonly Field[]): Template {
  return sql`select ${stateColumns}, ${currentLineageColumn} as lineage, r.version as record_version, ${recordJson(fields)} as record
from tally t
left join ${identifier(resource.name)} r on r.account_id = ${account}::bigint and r.id = ${recordId}::bigint
where t.account_id = ${account}::bigint and t.resource = ${value(resource.name)}::text`.template(
    [account, recordId],
    'record',
    'pipelined',
  )
}
