import { perResource, type Resource } from '../catalog/resources.ts'
import type { PendingRead } from '../lists/record-reader.ts'
import { recordColumns } from '../query/sql/record-statement.ts'
import { identifier, placeholder, type StateStatement, type StateTemplate, sql, value } from '../sql.ts'

/** A statement for each account, which Citus runs as one task on one shard. */
export function statementsByAccount(
  resource: Resource,
  batch: readonly PendingRead[],
): (readonly [StateStatement, readonly PendingRead[]])[] {
  const { plain, own } = templates[resource.name]
  const template = resource.schema === undefined ? plain : own
  return [...Map.groupBy(batch, ({ accountId }) => accountId)].map(
    ([accountId, reads]) =>
      [template([accountId, `{${reads.map(({ id }) => id).join(',')}}`]), reads] as const,
  )
}

const [account, ids] = [placeholder(), placeholder()]

function recordsTemplate(resource: Resource, withOwn: boolean): StateTemplate {
  return sql`select ${recordColumns(resource, withOwn)}
from tally t cross join unnest(${ids}::bigint[]) with ordinality q(id, n)
left join ${identifier(resource.name)} r on r.account_id = ${account}::bigint and r.id = q.id
where t.account_id = ${account}::bigint and t.resource = ${value(resource.name)}::text`.template(
    [account, ids],
    'record',
    'pipelined',
  )
}

const templates = perResource((resource) => ({
  plain: recordsTemplate(resource, false),
  own: recordsTemplate(resource, true),
}))
