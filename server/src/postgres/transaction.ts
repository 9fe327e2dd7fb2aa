import type { QueryResultRow } from 'pg'
import type { Operation, Statement } from '../sql.ts'
import type { Connection } from './connection.ts'
import type { Layout } from './layout.ts'
import { outcomeUnknown } from './sqlstate.ts'

/** Runs statements in an open transaction. */
export interface Transaction {
  readonly form: Layout['form']
  run<Row extends QueryResultRow>(statement: Statement): Promise<Row[]>
}

export interface TransactionOptions {
  /** Called instead of each statement and the commit, which it runs. It may throw instead. */
  readonly around?: <T>(operation: Operation | 'commit', run: () => Promise<T>) => Promise<T>
  /** Roll back in any case. */
  readonly isDryRun?: boolean
}

/** Runs `work` in a transaction: commits it, or rolls it back if `work` throws. */
export async function inTransaction<T>(
  connection: Connection,
  work: (transaction: Transaction) => Promise<T>,
  { around = (_, run) => run(), isDryRun = false }: TransactionOptions = {},
): Promise<T> {
  try {
    await connection.query(connection.beginText())
    const result = await work({
      form: connection.layout.form,
      run: async <Row extends QueryResultRow>(statement: Statement) =>
        (await around(statement.operation, () => connection.run<Row>(statement))).rows,
    })
    if (isDryRun) await connection.query('rollback')
    else await around('commit', () => failOnWarning(connection, () => connection.query('commit')))
    return result
  } catch (error) {
    // If the connection broke, the rollback fails, too. The first error is the one to report.
    await connection.query('rollback').catch(() => connection.destroy())
    throw error
  }
}

/**
 * If a commit's wait for the synchronous standby is interrupted, PostgreSQL reports success and a warning. A failover may
 * still lose such a commit.
 */
export async function failOnWarning<T>(connection: Connection, commit: () => Promise<T>): Promise<T> {
  let warning: unknown
  // Not by its severity, which is translated to the language of the server (lc_messages). A NOTICE has the code 00000.
  const onNotice = (notice: { code?: string | undefined }) => {
    if (notice.code !== '00000') warning = notice
  }
  connection.on('notice', onNotice)
  try {
    const result = await commit()
    if (warning !== undefined) throw outcomeUnknown(warning)
    return result
  } finally {
    connection.off('notice', onNotice)
  }
}
