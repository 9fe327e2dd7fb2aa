import { type Actor, auditStatement } from '../accounts/audit.ts'
import type { Account } from '../accounts/directory.ts'
import type { Resource } from '../catalog/resources.ts'
import { type IdColumns, type IdSource, idSourceOf, senderIds } from '../id-source.ts'
import { limits } from '../limits/limits.ts'
import type { Connection } from '../postgres/connection.ts'
import { inTransaction } from '../postgres/transaction.ts'
import { type Fragment, identifier, type Statement, sql, value } from '../sql.ts'
import { lockTally, tickTally } from '../writes/tick.ts'

export interface IdSwitch {
  readonly to: Exclude<IdSource, 'unassigned'>
  /** `external`: the lowest id that the other system assigns. Default: the one after the last id that this service assigned. */
  readonly from?: number
}

/** Decides who assigns the ids of a resource. Returns the columns as they are then. */
export async function switchIds(
  client: Connection,
  actor: Actor,
  account: Account,
  resource: Resource,
  change: IdSwitch,
): Promise<IdColumns> {
  return await inTransaction(client, async (transaction) => {
    const tally = await transaction.form(lockTally)(transaction, account, resource)
    if (tally === undefined) throw new Error(`The account has no tally of ${resource.plural}.`)
    const after = change.to === 'external' ? external(tally, change.from) : service(tally)
    if (isSame(tally, after)) return tally
    if (change.to === 'service') {
      const [found] = await transaction.run<{ id: string }>(firstSenderId(account, resource, tally))
      if (found !== undefined) throw hasSenderIds(account, resource, found.id)
    }
    await transaction.run(tickTally(value(account.accountId), resource, tickOf(after), tally).statement())
    const details = describeIds(after)
    await transaction.run(
      auditStatement(account, actor, { action: 'account.ids', subject: resource.name, details }),
    )
    return after
  })
}

function external(tally: IdColumns, from: number | undefined): IdColumns {
  const isExternal = idSourceOf(tally) === 'external'
  const lastId = Number(tally.last_id)
  // If the last id is from 2^32 on, this service has assigned no lower one since another system last did.
  const following = isExternal || lastId > limits.externalIdMax ? Number(tally.sender_ids_from) : lastId + 1
  return {
    ...tally,
    own_last_id: tally.own_last_id ?? String(Math.max(limits.externalIdMax, lastId)),
    sender_ids_from: String(from ?? following),
    service_ids: false,
  }
}

/** The next id is the one after the last id of both, so none is used twice. */
function service(tally: IdColumns): IdColumns {
  return { ...tally, own_last_id: null, service_ids: true }
}

function isSame(one: IdColumns, other: IdColumns): boolean {
  return (
    one.own_last_id === other.own_last_id &&
    one.sender_ids_from === other.sender_ids_from &&
    idSourceOf(one) === idSourceOf(other)
  )
}

/** No record changes. But a tally that is not written by a tick would end the positions of all clients in the change feed. */
function tickOf(after: IdColumns): {
  added: Fragment
  lastId: Fragment
  ownLastId: Fragment
  more: Fragment
} {
  return {
    added: sql`0`,
    lastId: sql`t.last_id`,
    ownLastId: sql`${value(after.own_last_id)}::bigint`,
    more: sql`sender_ids_from = ${value(after.sender_ids_from)}::bigint, service_ids = ${value(after.service_ids)}::boolean, `,
  }
}

function firstSenderId({ accountId }: Account, { name }: Resource, tally: IdColumns): Statement {
  const { from, to } = senderIds(tally)
  return sql`select id::text as id from ${identifier(name)} where account_id = ${value(accountId)}::bigint
  and id between ${value(from)}::bigint and ${value(to)}::bigint order by id limit 1`.statement()
}

function hasSenderIds({ name }: Account, resource: Resource, id: string): Error {
  return new Error(
    `The ${resource.name} ${id} of ${name} has an id of the other system. This service can assign the ids again only when no ${resource.name} has one: ` +
      'delete those first. Nothing was changed.',
  )
}

/** Human-readable. */
export function describeIds(tally: IdColumns): string {
  const source = idSourceOf(tally)
  if (source === 'unassigned') return 'unassigned: the first create, batch or import decides'
  if (source === 'service') return 'service: this service assigns all ids'
  const { from, to } = senderIds(tally)
  return `external: another system assigns ids ${from} to ${to}, this service those from ${to + 1}`
}
