import { perResource, type Resource } from '../catalog/resources.ts'
import type { PendingRead } from '../lists/record-reader.ts'
import {
  haveAuthors,
  idsOf,
  keysOf,
  type RecordShape,
  recordColumns,
  shapeOf,
} from '../query/sql/record-statement.ts'
import { identifier, placeholder, type StateStatement, type StateTemplate, sql, value } from '../sql.ts'

/** A statement for each account, which Citus runs as one task on one shard. */
export function statementsByAccount(
  resource: Resource,
  batch: readonly PendingRead[],
): (readonly [StateStatement, readonly PendingRead[]])[] {
  return [...Map.groupBy(batch, ({ accountId }) => accountId)].map(
    ([accountId, reads]) => [statementOf(resource, accountId, reads), reads] as const,
  )
}

function statementOf(resource: Resource, accountId: string, reads: readonly PendingRead[]): StateStatement {
  const { keyed, keyedAuthored, ...byId } = templates[resource.name]
  if (reads.some(({ key }) => key !== undefined))
    return (haveAuthors(reads) ? keyedAuthored : keyed)([accountId, ...keysOf(reads)])
  return byId[shapeOf(resource, reads)]([accountId, idsOf(reads)])
}

const [account, ids, keyFields, keyTexts] = [placeholder(), placeholder(), placeholder(), placeholder()]

function recordsTemplate(resource: Resource, shape: RecordShape): StateTemplate {
  return sql`select ${recordColumns(resource, shape)}
from tally t cross join unnest(${ids}::bigint[]) with ordinality q(id, n)
left join ${identifier(resource.name)} r on r.account_id = ${account}::bigint and r.id = q.id
where t.account_id = ${account}::bigint and t.resource = ${value(resource.name)}::text`.template(
    [account, ids],
    'record',
    'pipelined',
  )
}

function keyedTemplate(resource: Resource, shape: RecordShape): StateTemplate {
  return sql`select r.id as record_id, ${recordColumns(resource, shape)}
from tally t cross join unnest(${keyFields}::bigint[], ${keyTexts}::text[]) with ordinality q(field, value, n)
left join ${identifier(`${resource.name}_key`)} k on k.account_id = ${account}::bigint and k.field = q.field and k.value = q.value
left join ${identifier(resource.name)} r on r.account_id = ${account}::bigint and r.id = k.id
where t.account_id = ${account}::bigint and t.resource = ${value(resource.name)}::text`.template(
    [account, keyFields, keyTexts],
    'record',
    'pipelined',
  )
}

const templates = perResource((resource) => ({
  plain: recordsTemplate(resource, 'plain'),
  own: recordsTemplate(resource, 'own'),
  authored: recordsTemplate(resource, 'authored'),
  keyed: keyedTemplate(resource, 'own'),
  keyedAuthored: keyedTemplate(resource, 'authored'),
}))
