import pg from 'pg'
import {
  type CommandConnection,
  commandDefaults,
  commandOptions,
  destroyConnection,
  pinCommand,
} from './connections.ts'
import { setLayout } from './layout.ts'
import { loadLayout } from './load-layout.ts'
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

/** The caller must close the connection. `config`: instead of the settings of commands. */
export async function connectToPrimary(
  url: string,
  config?: Omit<pg.ClientConfig, 'connectionTimeoutMillis'>,
): Promise<pg.Client> {
  const urls = serverUrls(url)
  const hasOthers = urls.length > 1
  const [{ client }] = await firstServer<OpenClient>(urls, 0, {
    open: (serverUrl, signal) =>
      openCommand({ ...commandDefaults(serverUrl), ...config }, config === undefined, hasOthers, signal),
    accept: ({ isStandby }) => {
      if (isStandby) throw new Error('None of the servers in the database URL is a primary.')
    },
    discard: (opened) => destroyConnection(opened.client),
  })
  return client
}

async function openCommand(
  config: CommandConnection,
  isPinned: boolean,
  hasOthers: boolean,
  signal: AbortSignal,
): Promise<OpenClient> {
  if (!isPinned) return await openClient(config, hasOthers, signal)
  const opened = await openClient({ ...config, options: commandOptions }, hasOthers, signal).catch(
    (error) => {
      // protocol_violation: from a pooler that does not accept the startup options.
      if (error instanceof pg.DatabaseError && error.code === '08P01')
        return openClient(config, hasOthers, signal)
      throw error
    },
  )
  await pinCommand(opened.client)
  return opened
}

async function openClient(
  config: CommandConnection,
  hasOthers: boolean,
  signal: AbortSignal,
): Promise<OpenClient> {
  const client = new pg.Client(config)
  // If the connection breaks between two statements, the next statement fails. Without a listener, the process would exit.
  client.on('error', () => {})
  // The timeout of pg ends before the first statement, which a server that fails just then never answers.
  const ended = AbortSignal.any([signal, AbortSignal.timeout(config.connectionTimeoutMillis)])
  const destroy = () => destroyConnection(client)
  ended.addEventListener('abort', destroy)
  try {
    await client.connect()
    const { rows } = await client.query<{ standby: boolean; extensions: string[] }>(
      'select pg_is_in_recovery() as standby, array(select extname::text from pg_extension) as extensions',
    )
    setLayout(client, await loadLayout(rows[0]?.extensions ?? []))
    return { client, isStandby: hasOthers && rows[0]?.standby === true }
  } catch (error) {
    // pg leaves the socket open, for example if the server requests a password and none is set. The process would not exit.
    destroy()
    throw ended.aborted ? ended.reason : error
  } finally {
    ended.removeEventListener('abort', destroy)
  }
}
