import type { QueryResultRow } from 'pg'
import type { Connection } from '../../postgres/connection.ts'
import type { Transaction } from '../../postgres/transaction.ts'
import type { Statement } from '../../sql.ts'

/** Runs statements outside of a transaction. */
export function runOn(connection: Connection): Transaction['run'] {
  return async <Row extends QueryResultRow>(statement: Statement) =>
    (await connection.run<Row>(statement)).rows
}
