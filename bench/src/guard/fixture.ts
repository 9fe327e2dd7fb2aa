import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { withClient } from '../../../server/src/postgres/client.ts'
import { insertKeys } from '../../../verification/src/api-keys.ts'
import { type Context, type Stoppable, shared } from '../../../verification/src/check.ts'
import { type ServerProcess, Service } from '../../../verification/src/service.ts'
import { waitUntil } from '../../../verification/src/wait-until.ts'
import { type Caller, fillAccounts } from '../load/fixture.ts'
import type { Attack, Target } from './attacks/attack.ts'
import type { Order } from './attacks/attack-process.ts'

const attackProgram = fileURLToPath(new URL('attacks/attack-process.ts', import.meta.url))
const growerClients = 30
/** Accounts that send batches slowly. */
const slowAccounts = 8

/** The attacker with many records, the account that is measured, and further ones of 100 products each. */
export interface Fixture extends Stoppable {
  readonly service: Service
  readonly attacker: Caller
  readonly createOnly: Caller
  readonly victim: Caller
  readonly grower: Target['grower']
  readonly slow: readonly Caller[]
}

export const guardFixture = shared(async (context: Context): Promise<Fixture> => {
  const service = await Service.start({
    shared_buffers: '256MB',
    max_wal_size: '4GB',
    max_connections: '200',
  })
  try {
    const callers = await fillAccounts(service, context.size(100_000, 30_000), 3 + slowAccounts)
    const [attacker, victim, growing, ...slow] = callers
    if (attacker === undefined || victim === undefined || growing === undefined)
      throw new Error('no accounts')
    return await withClient(service.postgres.url, async (client) => {
      const [onlyCreates = ''] = await insertKeys(client, ['1'], ['partner:create'])
      const accountId = '3'
      const keys = await insertKeys(
        client,
        Array.from({ length: growerClients }, () => accountId),
      )
      const grower = { accountId, callers: keys.map((key) => ({ host: growing.host, key })) }
      const createOnly = { host: attacker.host, key: onlyCreates }
      return { service, attacker, createOnly, victim, grower, slow, stop: () => service.stop() }
    })
  } catch (error) {
    await service.stop()
    throw error
  }
})

/** Runs `work` with a new server, so that no attack meets what another one has left behind. */
export async function withServer<T>(
  { service }: Fixture,
  processes: number,
  work: (server: ServerProcess) => Promise<T>,
): Promise<T> {
  const server = await service.serve({
    QUARTERMASTER_WEBHOOK_SECRET: '0123456789abcdef0123456789abcdef0123456789abcdef',
    QUARTERMASTER_WEBHOOK_NETWORKS: '127.0.0.0/8',
    ...(processes === 1 ? {} : { QUARTERMASTER_PROCESSES: String(processes) }),
  })
  try {
    return await work(server)
  } finally {
    await server.kill()
    await disconnected(service)
  }
}

/** Workers and statements of a killed server end a little later, and would slow down the next measurement. */
async function disconnected({ postgres }: Service): Promise<void> {
  await withClient(postgres.url, async (client) => {
    await waitUntil(async () => {
      const { rows } = await client.query(
        `select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`,
      )
      return rows.length === 0
    })
    // What an attack wrote is otherwise written to disk during the next measurement.
    await client.query('checkpoint')
  })
}

/** An attack in a process of its own, prepared, and not yet started. */
export class AttackProcess {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#ended = once(child, 'exit')
  }

  static async prepare(attack: Attack, target: Target): Promise<AttackProcess> {
    const child = fork(attackProgram, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const running = new AttackProcess(child)
    child.send({ name: attack.name, target } satisfies Order)
    await Promise.race([
      once(child, 'message'),
      running.#ended.then(() => Promise.reject(new Error(`the attack ${attack.name} could not be prepared`))),
    ])
    return running
  }

  start(): void {
    this.#child.send('go')
  }

  /** Throws if the attack has ended by itself: then nothing was shown. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) throw new Error(`the attack ended with ${this.#child.exitCode}`)
    this.#child.send('stop')
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 5_000)
    await this.#ended
    clearTimeout(late)
  }
}
