import type { Database } from '../postgres/database.ts'
import { sql } from '../sql.ts'
import {
  type Claim,
  changeStatement,
  claimStatement,
  type Endpoint,
  type LoggedChange,
} from './delivery-statements.ts'
import { type Webhook, webhookColumns } from './webhook.ts'

export interface Claimed extends Webhook {
  readonly fence: string
}

export const claimedColumns = sql`${webhookColumns}, fence::text as fence`

/** How the position of an endpoint is stored. */
export interface DeliveryStore {
  /** Returns no row if the endpoint is not due, is stopped, or another process has the lease. */
  claim(database: Database, endpoint: Endpoint, options: Claim): Promise<Claimed[]>
  /** Returns no row if the lease was lost. */
  change(database: Database, logged: LoggedChange): Promise<{ status?: string }[]>
}

export const deliveryStore: DeliveryStore = {
  claim: (database, endpoint, options) =>
    database.writeOne<Claimed>(claimStatement(endpoint, options, claimedColumns)),
  change: (database, logged) => database.writeOne<{ status?: string }>(changeStatement(logged)),
}

export async function claim(
  database: Database,
  endpoint: Endpoint,
  options: Claim,
): Promise<Claimed | undefined> {
  const store = await database.form(deliveryStore)
  const [claimed] = await store.claim(database, endpoint, options)
  return claimed
}

export async function storeChange(database: Database, logged: LoggedChange): Promise<{ status?: string }[]> {
  const store = await database.form(deliveryStore)
  return await store.change(database, logged)
}
