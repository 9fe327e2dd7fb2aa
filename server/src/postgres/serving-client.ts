import pg from 'pg'
import type { EmitEvent } from '../observability/events.ts'
import {
  connectionDefaults,
  isDestroyed,
  type ServingConfig,
  setLocalSettings,
  verifySettings,
} from './connections.ts'
import { keepLongRows } from './long-rows.ts'

/** A client for a serving connection, which is not open yet. */
export function servingClient(config: ServingConfig, emit: EmitEvent): pg.Client {
  const client = new pg.Client({ ...connectionDefaults, ...config })
  if (config.keepsLongRows === true) keepLongRows(client)
  // A broken connection fails its statement, and pg also emits an error event. Without a listener, the process would exit.
  client.on('error', (error) => {
    if (!isDestroyed(client)) emit({ kind: 'connection-broken', error })
  })
  return client
}

/** After connecting: stores the settings of each transaction, or verifies those of the connection. */
export async function applySettings(client: pg.Client, config: ServingConfig): Promise<void> {
  if (config.localSettings !== undefined) setLocalSettings(client, config.localSettings)
  else await verifySettings(client, config.expected ?? {})
}
