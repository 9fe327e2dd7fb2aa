import type { Account } from '../../../accounts/directory.ts'
import { type ResourceName, resources } from '../../../catalog/resources.ts'
import { compareValues, emptyIndex } from '../../../fields/value-steps.ts'
import type { Connection } from '../../../postgres/connection.ts'
import { inTransaction } from '../../../postgres/transaction.ts'
import { type Finding, problem, repaired } from '../finding.ts'

/** Compares the table of values of declared fields with the records. Empty if they are the same. */
export async function checkValues(
  client: Connection,
  account: Pick<Account, 'accountId' | 'name'>,
  { repair }: { readonly repair: boolean },
): Promise<Finding[]> {
  const findings: Finding[] = []
  const { rows: found } = await client.query<{ resource: ResourceName }>(
    'select resource from value_index where account_id = $1 order by resource',
    [account.accountId],
  )
  for (const { resource: name } of found) {
    const resource = resources[name]
    const compared = await client.run<{ missing: number; surplus: number }>(compareValues(account, resource))
    const [row] = compared.rows
    if (row === undefined || row.missing + row.surplus === 0) continue
    const message = `The table of values of the declared ${name} fields of ${account.name} lacks ${row.missing} values, and has ${row.surplus} that no record has.`
    if (repair) {
      await inTransaction(client, async (transaction) => {
        for (const statement of emptyIndex(account, resource)) await transaction.run(statement)
      })
      findings.push(repaired('values', `${message} It is empty now; the next filter fills it again.`))
    } else
      findings.push(problem('values', message, `quartermaster doctor --repair --account ${account.name}`))
  }
  return findings
}
