import { withClient } from '../../../../server/src/postgres/client.ts'
import type { LedgerAccount, LedgerFile, Row } from './messages.ts'

export interface LedgerResult {
  readonly acknowledged: number
  /** Acknowledged, and not in the table as it was written. */
  lost: number
  /** In the table more often than it was written, or never written. */
  doubled: number
  /** Records that the copy of the change feed has or lacks, unlike the table. */
  feedDifferences: number
  readonly findings: string[]
}

/** Compares the tables with what was acknowledged. */
export async function checkLedger(url: string, ledger: LedgerFile): Promise<LedgerResult> {
  const result: LedgerResult = {
    acknowledged: ledger.acknowledged,
    lost: 0,
    doubled: 0,
    feedDifferences: 0,
    findings: [],
  }
  await withClient(url, async (client) => {
    for (const account of ledger.accounts) {
      const { rows } = await client.query<Row & unknown[]>({
        text: `select id::float8, name, is_company, is_customer, email, phone from partner
               where account_id = (select account_id from account where name = $1) order by id`,
        values: [account.name],
        rowMode: 'array',
      })
      if (account.rows === undefined) compareCreated(account, rows, result)
      else compareRows(account, account.rows, rows, result)
      compareCopy(account, rows, result)
    }
  })
  return result
}

function compareRows(
  { name }: LedgerAccount,
  expected: readonly Row[],
  rows: readonly Row[],
  result: LedgerResult,
): void {
  const stored = new Map(rows.map((row) => [row[0], JSON.stringify(row)]))
  for (const row of expected) {
    const found = stored.get(row[0])
    stored.delete(row[0])
    if (found === JSON.stringify(row)) continue
    result.lost += 1
    result.findings.push(`${name}: ${JSON.stringify(row)} was acknowledged, the table has ${String(found)}`)
  }
  for (const row of stored.values()) {
    result.doubled += 1
    result.findings.push(`${name}: ${row} was deleted or never written`)
  }
}

function compareCreated(
  { name, created = [], unknown = [] }: LedgerAccount,
  rows: readonly Row[],
  result: LedgerResult,
): void {
  const stored = new Map<string, number[]>()
  for (const [id, partner] of rows) stored.set(String(partner), [...(stored.get(String(partner)) ?? []), id])
  for (const [partner, id] of created) {
    const ids = stored.get(partner) ?? []
    if (ids.includes(id)) continue
    result.lost += 1
    result.findings.push(
      `${name}: ${partner} (${id}) was acknowledged, the table has ${ids.join() || 'nothing'}`,
    )
  }
  const sent = new Set([...created.map(([partner]) => partner), ...unknown])
  for (const [partner, ids] of stored) {
    if (ids.length === 1 && sent.has(partner)) continue
    result.doubled += 1
    result.findings.push(`${name}: ${partner} is stored as ${ids.join()}`)
  }
}

function compareCopy({ name, copy }: LedgerAccount, rows: readonly Row[], result: LedgerResult): void {
  const copied = new Map(copy)
  const differ = rows.filter(([id, partner]) => copied.get(id) !== partner)
  const extra = copied.size - (rows.length - rows.filter(([id]) => !copied.has(id)).length)
  result.feedDifferences += differ.length + extra
  for (const row of differ.slice(0, 3))
    result.findings.push(
      `${name}: the copy of the feed has ${String(copied.get(row[0]))} for ${JSON.stringify(row)}`,
    )
  if (extra > 0)
    result.findings.push(`${name}: the copy of the feed has ${extra} records that the table lacks`)
}
