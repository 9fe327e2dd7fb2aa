import type pg from 'pg'
import type { Config } from '../../config.ts'
import { withClient } from '../../postgres/client.ts'
import { databaseFault } from './database-fault.ts'

export interface OwnerUrl {
  readonly url: string
  /** The variable it came from: what an operator has to change. */
  readonly variable: 'DATABASE_OWNER_URL' | 'DATABASE_URL'
}

export function findOwnerUrl(config: Config): OwnerUrl | undefined {
  if (config.DATABASE_OWNER_URL !== undefined)
    return { url: config.DATABASE_OWNER_URL, variable: 'DATABASE_OWNER_URL' }
  if (config.DATABASE_URL !== undefined) return { url: config.DATABASE_URL, variable: 'DATABASE_URL' }
  return undefined
}

export function ownerUrl(config: Config): OwnerUrl {
  const found = findOwnerUrl(config)
  if (found !== undefined) return found
  throw new Error(
    'It is not said which database to use. Set DATABASE_URL, for example ' +
      'DATABASE_URL=postgres://quartermaster:PASSWORD@localhost:5432/quartermaster ' +
      '(`quartermaster postgres` starts a throw-away one).',
  )
}

/** Work on a connection of the owner's; what the database refuses is said as a sentence with what to do. */
export async function asOwner<T>(config: Config, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const owner = ownerUrl(config)
  return await explained(owner, () => withClient(owner.url, work))
}

export async function explained<T>({ url, variable }: OwnerUrl, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const fault = databaseFault(error, url, variable)
    if (fault === undefined) throw error
    throw new Error(`${fault.message} ${fault.repair}`, { cause: error })
  }
}
