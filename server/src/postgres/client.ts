import pg from 'pg'
import { markDistributed } from './client-topology.ts'
import { commandDefaults, destroyConnection } from './connections.ts'
import { serverUrls } from './primary/database-url.ts'
import { firstServer } from './primary/first-server.ts'

interface OpenClient {
  readonly client: pg.Client
  readonly isStandby: boolean
}

/** Runs `work` with one connection to the primary, for an operator's command, and closes it. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectToPrimary(url)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The caller must close the connection. */
export async function connectToPrimary(url: string, config: pg.ClientConfig = {}): Promise<pg.Client> {
  const urls = serverUrls(url)
  const hasOthers = urls.length > 1
  const [{ client }] = await firstServer<OpenClient>(urls, 0, {
    open: (serverUrl) => openClient({ ...commandDefaults(serverUrl), ...config }, hasOthers),
    accept: ({ isStandby }) => {
      if (isStandby) throw new Error('None of the servers in the database URL is a primary.')
    },
    discard: (opened) => destroyConnection(opened.client),
  })
  return client
}

async function openClient(config: pg.ClientConfig, hasOthers: boolean): Promise<OpenClient> {
  const client = new pg.Client(config)
  // If the connection breaks between two statements, the next statement fails. Without a listener, the process would exit.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    // If the server requests a password and none is set, pg leaves the socket open, and the process would not exit.
    destroyConnection(client)
    throw error
  }
  const { rows } = await client.query<{ standby: boolean; distributed: boolean }>(
    `select pg_is_in_recovery() as standby, exists (select from pg_extension where extname = 'citus') as distributed`,
  )
  if (rows[0]?.distributed === true) markDistributed(client)
  return { client, isStandby: hasOthers && rows[0]?.standby === true }
}
