import pg from 'pg'
import { Connection } from './connection.ts'
import { loadLayout } from './load-layout.ts'
import { serverUrls } from './primary/database-url.ts'
import { firstServer } from './primary/first-server.ts'
import { commandConnectMs, commandOptions, droppedPins, type ServingConfig } from './settings.ts'

interface Opened {
  readonly connection: Connection
  readonly isStandby: boolean
}

/** Runs `work` with one connection to the primary, for an operator's command, and closes it. */
export async function withClient<T>(url: string, work: (client: Connection) => Promise<T>): Promise<T> {
  const connection = await connectToPrimary(url)
  try {
    return await work(connection)
  } finally {
    await connection.end()
  }
}

/** The caller must close the connection. `config`: instead of the settings of commands. */
export async function connectToPrimary(url: string, config?: ServingConfig): Promise<Connection> {
  const urls = serverUrls(url)
  const hasOthers = urls.length > 1
  const [{ connection }] = await firstServer<Opened>(urls, 0, {
    open: (serverUrl, signal) =>
      config === undefined ? openPinned(serverUrl, signal) : openServer(serverUrl, config, signal),
    accept: ({ isStandby }) => {
      if (isStandby && hasOthers) throw new Error('None of the servers in the database URL is a primary.')
    },
    discard: (opened) => opened.connection.destroy(),
  })
  return connection
}

/** With the settings of commands. */
async function openPinned(url: string, signal: AbortSignal): Promise<Opened> {
  const pin = async (connection: Connection) => {
    connection.localSettings = await droppedPins(connection)
  }
  return await openServer(url, { options: commandOptions }, signal, pin).catch((error) => {
    // protocol_violation: from a pooler that does not accept the startup options.
    if (error instanceof pg.DatabaseError && error.code === '08P01') return openServer(url, {}, signal, pin)
    throw error
  })
}

async function openServer(
  url: string,
  config: ServingConfig,
  signal: AbortSignal,
  pin: (connection: Connection) => Promise<void> = async () => {},
): Promise<Opened> {
  const connection = new Connection({ ...config, connectionString: url })
  const destroy = () => connection.destroy()
  signal.addEventListener('abort', destroy)
  try {
    return await connection.open(commandConnectMs(url), async () => {
      const { rows } = await connection.query<{ standby: boolean; extensions: string[] }>(
        'select pg_is_in_recovery() as standby, array(select extname::text from pg_extension) as extensions',
      )
      connection.layout = await loadLayout(rows[0]?.extensions ?? [])
      await pin(connection)
      return { connection, isStandby: rows[0]?.standby === true }
    })
  } finally {
    signal.removeEventListener('abort', destroy)
  }
}
