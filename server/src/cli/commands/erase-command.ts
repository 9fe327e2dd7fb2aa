import { setTimeout as sleep } from 'node:timers/promises'
import { accountNamed } from '../../accounts/directory.ts'
import type { Config } from '../../config/config.ts'
import { eraseRecord } from '../../erasure/erase-record.ts'
import { type Erasure, erasureJson, erasureStatement } from '../../erasure/erasure.ts'
import { searchErased } from '../../erasure/finish-erasure.ts'
import { type DefinitionsRow, readDefinitions } from '../../fields/definitions.ts'
import { defaultLimits } from '../../limits/passed-limits.ts'
import type { Connection } from '../../postgres/connection.ts'
import { inTransaction, type Transaction } from '../../postgres/transaction.ts'
import type { AccountScope } from '../../scope.ts'
import { asOwner } from '../database/owner.ts'
import { operator } from '../operator.ts'
import { note, printJson, printLine, printTable } from '../print.ts'
import type { JsonOption } from './account-command.ts'

export interface EraseOptions extends JsonOption {
  readonly account: string
  readonly value: readonly string[]
}

const { erasureSettleMs } = defaultLimits

/** Erases a partner, and waits until nothing is left to search. Can be killed and repeated. */
export async function eraseCommand(config: Config, id: string, options: EraseOptions): Promise<void> {
  const erasure = await asOwner(config, async (client) => {
    const scope = await accountNamed(client, options.account)
    await erase(client, scope, id, options.value)
    return await finished(client, { accountId: scope.accountId, resource: 'partner', id })
  })
  if (options.json === true) {
    printJson({ account: options.account, ...erasureJson(erasure) })
    return
  }
  printLine(`partner ${id} of ${options.account}: erased`)
  const rows = Object.entries(erasure.counts).map(([kind, count]) => [kind, String(count)])
  if (rows.length > 0) printTable(['ALSO REMOVED FROM', 'ROWS'], rows)
}

async function erase(
  client: Connection,
  { accountId }: AccountScope,
  id: string,
  terms: readonly string[],
): Promise<void> {
  const { resource } = await readDefinitions(
    async (statement) => await client.read<DefinitionsRow>(statement),
    { accountId },
    'partner',
  )
  await inTransaction(client, (transaction) =>
    eraseRecord(transaction, { accountId, resource, id }, { actor: operator(), terms }),
  )
}

/** Searches at once, and again when every process has written its logs. Serving processes do the same. */
async function finished(
  client: Connection,
  key: Pick<Erasure, 'accountId' | 'resource' | 'id'>,
): Promise<Erasure> {
  const write = <T>(work: (transaction: Transaction) => Promise<T>) => inTransaction(client, work)
  for (let hasSearched = false; ; hasSearched = true) {
    const [erasure] = (await client.run<Erasure>(erasureStatement(key, erasureSettleMs))).rows
    if (erasure === undefined) throw new Error('The account was deleted.')
    if (erasure.terms === null) return erasure
    if (!hasSearched || erasure.isSettled) await searchErased(write, erasure)
    if (!erasure.isSettled) {
      if (!hasSearched) note('Waiting for the last log entries of serving processes …')
      await sleep(1_000)
    }
  }
}
