import pg from 'pg'
import { databaseFault, targetOf } from '../database/database-fault.ts'
import type { OwnerUrl } from '../database/owner.ts'
import { type Finding, problem } from './finding.ts'

export function connectedMessage({ url, variable }: OwnerUrl): string {
  const { host, user, database } = targetOf(url)
  return `${variable} connects to ${database} at ${host} as ${user}.`
}

/** The cause of a failed connection; the error's own message if it is not recognised. */
export function faultFinding(error: unknown, { url, variable }: OwnerUrl): Finding {
  const fault = databaseFault(error, url, variable)
  if (fault !== undefined) return problem('connection', fault.message, fault.repair)
  if (error instanceof pg.DatabaseError) {
    return problem('connection', `PostgreSQL reports: ${error.message}.`, 'Check the PostgreSQL log.')
  }
  if (!(error instanceof Error)) throw error
  const message = `No connection to PostgreSQL at ${targetOf(url).host}: ${error.message}.`
  return problem('connection', message, `Check ${variable}, the network and the PostgreSQL log.`)
}
