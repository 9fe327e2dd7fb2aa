import { DatabaseError } from 'pg'
import { Failure } from '../errors.ts'

/** What an error of PostgreSQL, or of the way to it, means for the caller: the one place that knows SQLSTATEs. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (!(error instanceof DatabaseError)) return storeAway(error)
  switch (error.code ?? '') {
    case '57014': // query_canceled: only the statement deadline cancels
      return deadlineExceeded(error)
    case '55P03': // lock_not_available: the write gave up before it wrote anything
      return new Failure(
        'overloaded',
        'Other writes of this account took too long. Nothing was written; try again.',
        [],
        error,
      )
    case '53300': // too_many_connections
    case '53200': // out_of_memory
    case '53100': // disk_full
      return new Failure(
        'overloaded',
        'The database has no room for more work now. Try again shortly.',
        [],
        error,
      )
    case '57P01': // admin_shutdown
    case '57P02': // crash_shutdown
    case '57P03': // cannot_connect_now
    case '57P04': // database_dropped
    case '57P05': // idle_session_timeout
    case '08000': // connection_exception, of a pooler or a distributed database in between
    case '08003':
    case '08006':
    case '3D000': // invalid_catalog_name: the database is being restored
    case '42P01': // undefined_table: the same, or it was not migrated
    case '42501': // insufficient_privilege: pg_restore grants privileges last
    case '25006': // read_only_sql_transaction: a standby that was a primary a moment ago
    case '55000': // object_not_in_prerequisite_state: a standby, asked for its timeline
    case '40001': // serialization_failure
    case '40P01': // deadlock_detected
      return changingOver(error)
    case '08P01': // protocol_violation: of a pooler that refuses startup parameters it does not know
      return storeAway(
        error,
        'A connection pooler before the database refuses how the service connects. Its operator has to set DATABASE_POOLER=transaction.',
      )
    case '26000': // invalid_sql_statement_name
    case '42P05': // duplicate_prepared_statement
      return statementsLost(error)
    default:
      return new Failure('internal', 'Something went wrong on our side. It has been noted.', [], error)
  }
}

/** Whether PostgreSQL itself answered: it is there, whatever it has refused. */
export function isDatabaseAnswer(error: unknown): boolean {
  return error instanceof Failure && error.cause instanceof DatabaseError
}

/** No connection: whatever the reason, a password or a network, the caller can only wait for the operator. */
export function failureToConnect(error: unknown): Failure {
  const failure = failureOf(error)
  return failure.code === 'internal' ? storeAway(error) : failure
}

export function deadlineExceeded(cause?: unknown): Failure {
  return new Failure(
    'deadline_exceeded',
    'The query took longer than it may. Narrow the filter, or ask for fewer records at once.',
    [],
    cause,
  )
}

export function storeAway(
  cause?: unknown,
  detail = 'The database cannot be reached. Try again shortly.',
): Failure {
  return new Failure('database_unavailable', detail, [], cause)
}

/** Only a pooler in between, which gives each transaction another backend, loses or mixes up what is prepared by name. */
export function statementsLost(cause: unknown): Failure {
  return storeAway(
    cause,
    'A connection pooler before the database loses prepared statements. Its operator has to set DATABASE_POOLER=transaction.',
  )
}

export function isStatementLost(error: { readonly code?: string | undefined }): boolean {
  return error.code === '26000' || error.code === '42P05'
}

/** Between two servers, or between two states of one: another try a little later succeeds. */
export function changingOver(cause?: unknown): Failure {
  return storeAway(cause, 'The database is changing over. Try again shortly.')
}

/**
 * Whether an error is about the server or the connection, not about the statement: it shuts down, is a standby, or the
 * connection broke. The connection is not to be used again.
 */
export function isOfServer(error: unknown): boolean {
  if (error instanceof Failure) return false
  if (!(error instanceof DatabaseError)) return true
  const code = error.code ?? ''
  return code.startsWith('57P') || code.startsWith('08') || code === '25006' || code === '55000'
}

/** Whether a write that failed so, or its commit, may have been committed: the server went before it could answer. */
export function mayHaveCommitted(error: unknown): boolean {
  if (error instanceof Failure) return false
  if (!(error instanceof DatabaseError)) return true
  const code = error.code ?? ''
  return code === '57P01' || code === '57P02' || code.startsWith('08')
}
