import type { Account } from '../../../accounts/directory.ts'
import { keyFieldsOf } from '../../../catalog/own-fields.ts'
import type { ResourceName } from '../../../catalog/resources.ts'
import { type DefinitionsRow, readDefinitions } from '../../../fields/definitions.ts'
import { addAllKeys, compareKeys, removeAllKeys } from '../../../fields/key-build.ts'
import { nextSchema } from '../../../fields/next-schema.ts'
import type { Connection } from '../../../postgres/connection.ts'
import { inTransaction } from '../../../postgres/transaction.ts'
import { type Finding, problem, repaired } from '../finding.ts'

/** Compares the values of unique fields with those of the records. Empty if they are the same. */
export async function checkKeys(
  client: Connection,
  account: Account,
  { repair }: { readonly repair: boolean },
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const name of await resourcesWithKeys(client, account)) {
    const { resource } = await readDefinitions(
      (statement) => client.read<DefinitionsRow>(statement),
      account,
      name,
    )
    // Those that are being built lack values on purpose.
    for (const field of keyFieldsOf(resource).filter(({ key }) => key.isReady)) {
      const [row] = (
        await client.run<{ missing: number; surplus: number }>(compareKeys(account, resource, field))
      ).rows
      if (row === undefined || row.missing + row.surplus === 0) continue
      const message = `The table of the unique field ${name}.${field.name} of ${account.name} lacks ${row.missing} values, and has ${row.surplus} that no record has.`
      if (repair) {
        await inTransaction(client, async (transaction) => {
          await nextSchema(transaction, account, resource)
          await transaction.run(removeAllKeys(account, resource, field))
          await transaction.run(addAllKeys(account, resource, field))
        })
        findings.push(repaired('keys', message))
      } else
        findings.push(problem('keys', message, `quartermaster doctor --repair --account ${account.name}`))
    }
  }
  return findings
}

/** Empty for nearly all accounts. */
async function resourcesWithKeys(client: Connection, { accountId }: Account): Promise<ResourceName[]> {
  const { rows } = await client.query<{ resource: ResourceName }>(
    `select distinct resource from field join tally using (account_id, resource)
     where account_id = $1 and unique_state = 'ready' and field.state = 'stored'`,
    [accountId],
  )
  return rows.map(({ resource }) => resource)
}
