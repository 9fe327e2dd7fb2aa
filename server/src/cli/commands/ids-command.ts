import { accountNamed } from '../../accounts/directory.ts'
import { type ResourceName, resources } from '../../catalog/resources.ts'
import type { Config } from '../../config/config.ts'
import { idSourceOf } from '../../id-source.ts'
import { describeIds, type IdSwitch, switchIds } from '../../import/switch-ids.ts'
import { asOwner } from '../database/owner.ts'
import { operator } from '../operator.ts'
import { printJson, printLine } from '../print.ts'

/** `quartermaster account ids acme product external`. */
export async function accountIds(
  config: Config,
  name: string,
  resource: ResourceName,
  { json, ...change }: IdSwitch & { readonly json?: boolean },
): Promise<void> {
  if (change.to === 'service' && change.from !== undefined)
    throw new Error('--from says which ids another system assigns. It cannot be used with service.')
  const tally = await asOwner(config, async (client) =>
    switchIds(client, operator(), await accountNamed(client, name), resources[resource], change),
  )
  if (json !== true) return printLine(`${name} ${resource}: ${describeIds(tally)}`)
  const ids = idSourceOf(tally)
  printJson({
    account: name,
    resource,
    ids,
    sender_ids_from: ids === 'external' ? Number(tally.sender_ids_from) : null,
  })
}
