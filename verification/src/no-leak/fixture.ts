import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context, Stoppable } from '../check.ts'
import { Client } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { type ServerProcess, Service } from '../service.ts'

/** An account with its own marker in every text, and with ids that no other account has. */
export interface MarkerAccount {
  readonly name: string
  readonly marker: string
  /** A prefix of the marker, unique among accounts: a filter with it finds the records without sending the marker. */
  readonly stem: string
  readonly key: string
  readonly revokedKey: string
  readonly firstId: number
}

export const productCount = 30
export const otherCount = 10

export interface LeakFixture extends Stoppable {
  readonly accounts: readonly MarkerAccount[]
  readonly server: ServerProcess
  readonly client: Client
}

export async function startLeakFixture(context: Context): Promise<LeakFixture> {
  context.log('starting a database, importing accounts')
  const service = await Service.start()
  try {
    const count = context.size(50, 4)
    const accounts: MarkerAccount[] = []
    const progress = context.progress('accounts', count)
    await inParallel(count, 2, async (index) => {
      accounts[index] = await createAccount(service, index)
      progress.step()
    })
    progress.end()
    // High enough that no request is rejected because of other requests of the same account.
    const server = await service.serve({ QUARTERMASTER_ACCOUNT_READS_MAX: '64' })
    const client = new Client(32)
    const stop = async () => {
      client.close()
      await service.stop()
    }
    return { accounts, server, client, stop }
  } catch (error) {
    await service.stop()
    throw error
  }
}

async function createAccount(service: Service, index: number): Promise<MarkerAccount> {
  const name = `leak-${index}`
  const stem = `zq${letters(index)}`
  const marker = `${stem}qz`
  const key = await service.account(name)
  const revokedKey = await createRevokedKey(service, name, marker)
  const firstId = (index + 1) * 1000
  const rows = {
    product: (at: number) => ({ name: `${marker} product ${at}`, default_code: `${marker}-${at}` }),
    partner: (at: number) => ({
      name: `${marker} partner ${at}`,
      email: `${at}@${marker}`,
      phone: `${marker}${at}`,
    }),
    company: (at: number) => ({
      name: `${marker} company ${at}`,
      company_code: `${marker}${at}`,
      branch_user: `${marker}${at}`,
    }),
  }
  for (const [resource, row] of Object.entries(rows)) {
    const count = resource === 'product' ? productCount : otherCount
    const lines = Array.from({ length: count }, (_, at) => JSON.stringify({ id: firstId + at, ...row(at) }))
    const file = join(service.folder, `${name}-${resource}.ndjson`)
    writeFileSync(file, `${lines.join('\n')}\n`)
    await service.command(['import', resource, file, '--account', name])
  }
  return { name, stem, marker, key, revokedKey, firstId }
}

async function createRevokedKey(service: Service, account: string, marker: string): Promise<string> {
  const name = `${marker} revoked`
  const out = await service.command(['key', 'create', '--account', account, '--name', name, '--json'])
  const { key, key_id: id }: { key: string; key_id: string } = JSON.parse(out)
  await service.command(['key', 'revoke', id, '--account', account])
  return key
}

/** Two letters, so that no marker contains another. */
function letters(index: number): string {
  return String.fromCharCode(97 + Math.floor(index / 26), 97 + (index % 26))
}
