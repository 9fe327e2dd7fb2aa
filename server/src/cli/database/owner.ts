import type { Config } from '../../config/config.ts'
import { withClient } from '../../postgres/client.ts'
import type { Connection } from '../../postgres/connection.ts'
import { CommandError } from '../command-error.ts'
import { databaseFault } from './database-fault.ts'

export interface OwnerUrl {
  readonly url: string
  /** The environment variable it comes from, for error messages. */
  readonly variable: 'DATABASE_OWNER_URL' | 'DATABASE_URL' | 'DATABASE_REPLICA_URLS'
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
    'DATABASE_URL is not set. Example: ' +
      'DATABASE_URL=postgres://quartermaster:PASSWORD@localhost:5432/quartermaster ' +
      '(`quartermaster postgres` starts a temporary database).',
  )
}

/** Runs `work` on a connection as owner. */
export async function asOwner<T>(config: Config, work: (client: Connection) => Promise<T>): Promise<T> {
  const owner = ownerUrl(config)
  return await explainErrors(owner, () => withClient(owner.url, work))
}

/** Replaces a database error by one whose message says what to do. */
export async function explainErrors<T>({ url, variable }: OwnerUrl, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const fault = databaseFault(error, url, variable)
    if (fault === undefined) throw error
    const code = fault.isUnavailable === true ? 'database_unavailable' : 'failed'
    throw new CommandError(code, `${fault.message} ${fault.repair}`, error)
  }
}
