import { DatabaseError } from 'pg'
import { Failure, internalError } from '../errors/errors.ts'
import type { Layout } from './layout.ts'

/** The connection that an error came from. */
interface Source {
  readonly layout: Pick<Layout, 'isTemporary' | 'isOfOtherServer'>
}

/**
 * Maps an error of PostgreSQL or of the connection to it to a `Failure`. The only function that maps SQLSTATEs.
 */
export function failureOf(error: unknown, source?: Source): Failure {
  if (error instanceof Failure) return error
  if (!(error instanceof DatabaseError)) return databaseUnavailable(error)
  switch (error.code ?? '') {
    case '57014': // query_canceled: by statement_timeout
      return deadlineExceeded(error)
    case '55P03': // lock_not_available: lock_timeout passed before anything was written
      return new Failure(
        'overloaded',
        'The write waited too long for other writes of this account. Nothing was written; try again.',
        [],
        error,
      )
    case '53300': // too_many_connections
    case '53200': // out_of_memory
    case '53100': // disk_full
      return new Failure(
        'overloaded',
        'The database has no connections, memory or disk space left. Try again shortly.',
        [],
        error,
      )
    case '57P01': // admin_shutdown
    case '57P02': // crash_shutdown
    case '57P03': // cannot_connect_now
    case '57P04': // database_dropped
    case '57P05': // idle_session_timeout
    case '25P03': // idle_in_transaction_session_timeout: this process was paused
    case '08000': // connection_exception: from a pooler, or about another server
    case '08003':
    case '08006':
    case '3D000': // invalid_catalog_name: the database is being restored
    case '42P01': // undefined_table: the database is being restored, or is not migrated
    case '42501': // insufficient_privilege: pg_restore grants privileges last
    case '25006': // read_only_sql_transaction: a standby that was the primary until now
    case '55000': // object_not_in_prerequisite_state: a standby has no current WAL position
    case '40001': // serialization_failure
    case '40P01': // deadlock_detected
      return failingOver(error)
    case '08P01': // protocol_violation: from a pooler that does not accept the startup parameters
      return databaseUnavailable(
        error,
        'A connection pooler between the service and the database rejects the startup parameters of the service. The operator must set QUARTERMASTER_DATABASE_POOLER=transaction.',
      )
    case '26000': // invalid_sql_statement_name
    case '42P05': // duplicate_prepared_statement
      return preparedStatementsLost(error)
    case 'XX000': // internal_error
      return source?.layout.isTemporary(error) === true ? failingOver(error) : internalError(error)
    default:
      return internalError(error)
  }
}

/** Whether PostgreSQL itself returned the error, which means that it is available. */
export function isDatabaseError(error: unknown): boolean {
  return error instanceof Failure && error.cause instanceof DatabaseError
}

/** For an error while connecting. Whatever its cause, such as a wrong password, the caller can only try again later. */
export function connectFailureOf(error: unknown): Failure {
  const failure = failureOf(error)
  return failure.code === 'internal' ? databaseUnavailable(error) : failure
}

export function deadlineExceeded(cause?: unknown): Failure {
  return new Failure(
    'deadline_exceeded',
    'The query exceeded its timeout. Narrow the filter, or request fewer records at once.',
    [],
    cause,
  )
}

export function databaseUnavailable(
  cause?: unknown,
  detail = 'The database cannot be reached. Try again shortly.',
): Failure {
  return new Failure('database_unavailable', detail, [], cause)
}

/** Only a pooler that assigns a backend to each transaction causes these errors. */
export function preparedStatementsLost(cause: unknown): Failure {
  return databaseUnavailable(
    cause,
    'A connection pooler between the service and the database loses prepared statements. The operator must set QUARTERMASTER_DATABASE_POOLER=transaction.',
  )
}

export function isPreparedStatementLost(error: { readonly code?: string | undefined }): boolean {
  return error.code === '26000' || error.code === '42P05'
}

/** The database is between two states, such as a failover or a restore. A retry succeeds shortly. */
export function failingOver(cause?: unknown): Failure {
  return databaseUnavailable(
    cause,
    'The database is restarting, failing over or being restored. Try again shortly.',
  )
}

/**
 * Whether the error is about the connection or its server, not about the statement: the server shuts down, is a standby,
 * or the connection broke. The connection must not be used again.
 */
export function isConnectionError(error: unknown, source: Source): boolean {
  if (error instanceof Failure) return false
  if (!(error instanceof DatabaseError)) return true
  if (source.layout.isOfOtherServer(error)) return false
  const code = error.code ?? ''
  return code.startsWith('57P') || code.startsWith('08') || ['25006', '55000', '25P03'].includes(code)
}

/** Whether the failed write may have been committed: the connection ended before the server confirmed. */
export function mayHaveCommitted(error: unknown): boolean {
  if (error instanceof Failure) return false
  if (!(error instanceof DatabaseError)) return true
  const code = error.code ?? ''
  return code === '57P01' || code === '57P02' || code.startsWith('08')
}

/** A write that has timed out. It uses its connection until it has ended. */
export class WriteTimedOut extends Failure {
  readonly ended: Promise<void>

  constructor({ code, message, cause }: Failure, ended: Promise<void>) {
    super(code, message, [], cause)
    this.ended = ended
  }
}

export function notCommitted(): Failure {
  return new Failure(
    'overloaded',
    'The write timed out before it was committed. Nothing was written; try again.',
  )
}

export function outcomeUnknown(cause?: unknown): Failure {
  return new Failure(
    'outcome_unknown',
    'The database did not confirm the write in time: it may or may not have been committed. ' +
      'Try again with the same Idempotency-Key; without one, first check whether the record exists.',
    [],
    cause,
  )
}
