import type { CopyStatement } from '../lists/exports/export-copy.ts'
import type { AccountScope } from '../scope.ts'

/** Citus reads the settings where it plans the COPY, and on the worker with the records. */
export function settingsOnBoth(
  { text, values }: CopyStatement,
  { accountId }: AccountScope,
): CopyStatement[] {
  const onWorker = `${text} from tally where account_id = $${values.length + 1}::bigint and resource = 'product'`
  return [
    { text, values },
    { text: onWorker, values: [...values, accountId] },
  ]
}
