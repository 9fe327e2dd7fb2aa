import { resources } from '../../../../server/src/catalog/resources.ts'
import { withClient } from '../../../../server/src/postgres/client.ts'
import type { Connection } from '../../../../server/src/postgres/connection.ts'
import { insertKeys } from '../../api-keys.ts'
import { fill } from '../../plans/data.ts'
import type { Service } from '../../service.ts'
import type { Sender } from './message.ts'

/** A large account, a small one, and a client without a key: the service handles each differently. */
export interface Senders {
  readonly large: Sender
  readonly small: Sender
  readonly anonymous: Sender
}

export async function createSenders(service: Service): Promise<Senders> {
  const [large, small] = await withClient(service.postgres.url, async (client) => {
    await fill(client, 'varied', 3_000, 2)
    const { rows } = await client.query<{ account_id: string; name: string }>(
      'select account_id, name from account order by account_id',
    )
    await addUniqueFields(client)
    const keys = await insertKeys(
      client,
      rows.map((row) => row.account_id),
    )
    return rows.map(({ name }, i) => ({ host: `${name}.localhost`, key: keys[i] }))
  })
  if (large === undefined || small === undefined) throw new Error('no accounts were created')
  return {
    large: { name: 'with a key', ...large },
    small: { name: 'with a key of a small account', ...small },
    anonymous: { name: 'without a key', host: large.host, key: undefined },
  }
}

/** Every account can address records by the field that the OpenAPI document has as an example. The first ones have its value. */
async function addUniqueFields(client: Connection): Promise<void> {
  for (const { name, fields } of Object.values(resources)) {
    const field = fields.find(({ canBeUnique }) => canBeUnique)
    if (field === undefined) throw new Error(`no field of ${name} can be unique`)
    const column = client.escapeIdentifier(field.name)
    await client.query(
      `insert into field (account_id, resource, number, name, type, label, unique_state)
       select account_id, $1, 1, $2, 'text', '', 'ready' from account`,
      [name, field.name],
    )
    await client.query(`update tally set schema = 1 where resource = $1`, [name])
    await client.query(`update ${client.escapeIdentifier(name)} set ${column} = null where id > 1`)
    await client.query(`update ${client.escapeIdentifier(name)} set ${column} = $1 where id = 1`, [
      field.example,
    ])
    await client.query(
      `insert into ${client.escapeIdentifier(`${name}_key`)} select account_id, 1, ${column}, id
       from ${client.escapeIdentifier(name)} where ${column} is not null`,
    )
  }
}

/** What the server needs so that it reads every part of a request: addresses from headers, and webhooks. */
export const hostileEnvironment = {
  QUARTERMASTER_TRUSTED_PROXIES: '127.0.0.1',
  QUARTERMASTER_WEBHOOK_SECRET: '0123456789abcdef0123456789abcdef0123456789abcdef',
}
