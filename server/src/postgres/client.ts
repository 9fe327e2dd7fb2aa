import pg from 'pg'
import { connectionDefaults, destroyConnection } from './connections.ts'
import { serverUrls } from './database-url.ts'
import { firstServer } from './first-server.ts'

interface Opened {
  readonly client: pg.Client
  readonly isStandby: boolean
}

/** One connection to the primary for an operator's command, closed when the work is done. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectToPrimary(url)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Whoever calls it closes the connection. */
export async function connectToPrimary(url: string, config: pg.ClientConfig = {}): Promise<pg.Client> {
  const urls = serverUrls(url)
  const hasOthers = urls.length > 1
  const [{ client }] = await firstServer<Opened>(urls, 0, {
    open: (one) => openClient({ ...connectionDefaults, ...config, connectionString: one }, hasOthers),
    accept: ({ isStandby }) => {
      if (isStandby) throw new Error('None of the servers in the database URL is a primary.')
    },
    discard: (other) => destroyConnection(other.client),
  })
  return client
}

async function openClient(config: pg.ClientConfig, hasOthers: boolean): Promise<Opened> {
  const client = new pg.Client(config)
  // A connection that breaks between two statements fails the next one; without a listener it would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    // Where the server asks for a password and there is none, pg leaves the socket open, and the process would not end.
    destroyConnection(client)
    throw error
  }
  if (!hasOthers) return { client, isStandby: false }
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  return { client, isStandby: rows[0]?.standby === true }
}
