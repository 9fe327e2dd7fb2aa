import type { Database } from '../postgres/database.ts'
import { sql, value } from '../sql.ts'
import type { Topology } from '../topology.ts'
import {
  type Claim,
  changeStatement,
  claimStatement,
  type Endpoint,
  type LoggedChange,
  logStatement,
} from './delivery-statements.ts'
import { ofWebhook } from './endpoints.ts'
import { type Webhook, webhookColumns } from './webhook.ts'

export interface Claimed extends Webhook {
  readonly fence: string
}

/** How the position of an endpoint is stored. */
interface DeliveryStore {
  /** Returns no row if the endpoint is not due, is stopped, or another process has the lease. */
  claim(database: Database, endpoint: Endpoint, options: Claim): Promise<Claimed[]>
  /** Returns no row if the lease was lost. */
  change(database: Database, logged: LoggedChange): Promise<{ status?: string }[]>
}

const fence = sql`fence::text as fence`

const stores: Record<Topology, DeliveryStore> = {
  single: {
    claim: (database, endpoint, options) =>
      database.writeOne<Claimed>(claimStatement(endpoint, options, sql`${webhookColumns}, ${fence}`)),
    change: (database, logged) => database.writeOne<{ status?: string }>(changeStatement(logged)),
  },
  // Citus accepts only immutable functions in RETURNING, and would commit a statement that writes two tables in two phases.
  distributed: {
    claim: (database, endpoint, options) =>
      database.write(async (transaction) => {
        const claimed = await transaction.run(claimStatement(endpoint, options, sql`id`))
        if (claimed.length === 0) return []
        const found = sql`select ${webhookColumns}, ${fence} from webhook where ${ofWebhook(value(endpoint.accountId), endpoint.id)}`
        return await transaction.run<Claimed>(found.statement('webhook'))
      }),
    change: (database, { endpoint, change, entry }) =>
      database.write(async (transaction) => {
        const rows = await transaction.run<{ status?: string }>(change.statement('webhook'))
        if (rows.length > 0 && entry !== undefined) await transaction.run(logStatement(endpoint, entry))
        return rows
      }),
  },
}

export async function claim(
  database: Database,
  endpoint: Endpoint,
  options: Claim,
): Promise<Claimed | undefined> {
  const [claimed] = await stores[await database.topology()].claim(database, endpoint, options)
  return claimed
}

export async function storeChange(database: Database, logged: LoggedChange): Promise<{ status?: string }[]> {
  return await stores[await database.topology()].change(database, logged)
}
