import pg from 'pg'
import { limits } from '../limits.ts'

/** One connection for an operator's command, closed when the work is done. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'quartermaster',
    connectionTimeoutMillis: limits.connectMsMax,
  })
  // A connection that breaks between two statements fails the next one; without a listener it would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
