import pg from 'pg'

/** One connection for an operator's command, closed when the work is done. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'quartermaster' })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
