import pg from 'pg'
import { databaseFault, placeOf } from '../database/database-fault.ts'
import type { OwnerUrl } from '../database/owner.ts'
import { type Finding, problem } from './finding.ts'

export function connected({ url, variable }: OwnerUrl): string {
  const { host, user, database } = placeOf(url)
  return `${variable} connects to ${database} at ${host} as ${user}.`
}

/** Why there is no connection, in a sentence: an error that is not known is told as it is. */
export function faultFinding(error: unknown, { url, variable }: OwnerUrl): Finding {
  const fault = databaseFault(error, url, variable)
  if (fault !== undefined) return problem('connection', fault.message, fault.repair)
  if (error instanceof pg.DatabaseError) {
    return problem('connection', `PostgreSQL refused: ${error.message}.`, 'Look at the log of PostgreSQL.')
  }
  if (!(error instanceof Error)) throw error
  const message = `No connection to PostgreSQL at ${placeOf(url).host}: ${error.message}.`
  return problem('connection', message, `Look at ${variable}, the network, and the log of PostgreSQL.`)
}
