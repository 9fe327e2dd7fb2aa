import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Check, Context } from '../check.ts'
import { Client } from '../client.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { Expected } from './sync-expected.ts'
import { erpPair, type Pair, senderOf, warehousePair } from './sync-pairs.ts'

const account = 'synced'
/** Pauses between the rounds of a program, in seconds. */
const roundSeconds = '0.05'
/** Pauses between writes on a side, in milliseconds. */
const writeMsMax = 60

/**
 * Two programs keep a database in step with Quartermaster, by a unique field and without a table of ids, while people write on both
 * sides. Each is killed again and again, and once loses every id and its position in the feed. In the end both sides are identical.
 */
export const syncWithoutMapping: Check = {
  name: 'sync_without_mapping',
  bound: '0 different',
  async run(context) {
    const service = await Service.start()
    const client = new Client()
    try {
      const key = await service.account(account)
      const { port } = await service.serve({ QUARTERMASTER_DEFAULT_ACCOUNT: account })
      const send = senderOf(client, port, account, key)
      for (const [resource, name, type] of [
        ['partner', 'x_number', 'integer'],
        ['product', 'x_sku', 'text'],
      ]) {
        const { status, text } = await send('POST', '/manage/v1/fields', {
          resource,
          name,
          type,
          unique: true,
        })
        if (status !== 201) throw new Error(`${name} was not declared: ${status} ${text}`)
      }
      const environment = { QUARTERMASTER_URL: `http://127.0.0.1:${port}`, QUARTERMASTER_KEY: key }
      const pairs = [
        erpPair(join(service.folder, 'erp.db'), send),
        warehousePair(join(service.folder, 'warehouse.db'), send),
      ]
      return await measure(context, pairs, environment)
    } finally {
      client.close()
      await service.stop()
    }
  },
}

async function measure(context: Context, pairs: readonly Pair[], environment: Record<string, string>) {
  const kills = context.size(20, 3)
  const progress = context.progress('kills', kills * pairs.length)
  const found = await Promise.all(
    pairs.map((pair, at) => keepInStep(pair, environment, context.seed + at, kills, () => progress.step())),
  )
  progress.end()
  const faults = found.flatMap((one) => one.faults)
  const rows = found.reduce((sum, one) => sum + one.rows, 0)
  return {
    value: `${grouped(faults.length)} of ${grouped(rows)}, ${kills * pairs.length} kills`,
    ok: faults.length === 0,
    samples: Math.min(...found.flatMap((one) => one.evidence)),
    note: [`seed ${context.seed}`, ...found.map((one) => one.summary), ...faults.slice(0, 10)].join('\n'),
  }
}

async function keepInStep(
  pair: Pair,
  environment: Record<string, string>,
  seed: number,
  kills: number,
  onKill: () => void,
) {
  const program = new Program(pair, environment)
  const expected = new Expected()
  // Once, so that its tables exist.
  await program.finish()
  const done = new AbortController()
  const [here, there, moments] = [new Random(seed, 1), new Random(seed, 2), new Random(seed, 3)]
  const writing = [
    repeatedly(done.signal, here, async () => pair.writeHere(here, expected)),
    repeatedly(done.signal, there, () => pair.writeThere(there, expected)),
  ]
  const killing = (async () => {
    try {
      for (let kill = 1; kill <= kills; kill++) {
        await program.killAfter(moments.integer(0, 400))
        if (kill === Math.ceil(kills / 2)) pair.loseIds()
        onKill()
      }
    } finally {
      done.abort()
    }
  })()
  await Promise.all([killing, ...writing])
  // What the first run receives and sends, the second one receives back.
  for (let run = 0; run < 2; run++) await program.finish()
  const [rowsHere, rowsThere] = [pair.rowsHere(), await pair.rowsThere()]
  const { faults, certain } = expected.compare(rowsHere, rowsThere)
  const { local, remote } = expected.counts
  return {
    faults: faults.map((fault) => `${pair.name}: ${fault}`),
    rows: rowsThere.length,
    evidence: [...local, ...remote, certain, rowsThere.length, kills],
    summary: `${pair.name}: ${grouped(rowsThere.length)} rows; created, changed, deleted here ${local.join(', ')} and there ${remote.join(', ')}; ${certain} written on one side only`,
  }
}

async function repeatedly(signal: AbortSignal, random: Random, write: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await write()
    await sleep(random.integer(0, writeMsMax))
  }
}

/** If the check ends with an error, no program must outlive it. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Runs the program of a pair, again and again. */
class Program {
  readonly #pair: Pair
  readonly #environment: Record<string, string>

  constructor(pair: Pair, environment: Record<string, string>) {
    this.#pair = pair
    this.#environment = environment
  }

  /** One round. */
  async finish(): Promise<void> {
    const { child, errors } = this.#start()
    await once(child, 'close')
    if (child.exitCode !== 0)
      throw new Error(`${this.#pair.name} exited with ${child.exitCode}:\n${errors()}`)
  }

  /** Rounds without an end, until it is killed: some milliseconds after its first request could have been sent. */
  async killAfter(ms: number): Promise<void> {
    const { child, errors } = this.#start(roundSeconds)
    const closed = once(child, 'close')
    await Promise.race([once(child.stdout, 'data'), closed])
    await sleep(ms)
    child.kill('SIGKILL')
    await closed
    if (child.signalCode !== 'SIGKILL')
      throw new Error(`${this.#pair.name} exited with ${child.exitCode}:\n${errors()}`)
  }

  #start(...seconds: readonly string[]): { child: ReturnType<typeof spawnPiped>; errors: () => string } {
    const [program, ...args] = this.#pair.command
    const child = spawnPiped(program, [...args, this.#pair.file, ...seconds], this.#environment)
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    return { child, errors: () => errors }
  }
}

function spawnPiped(program: string, args: readonly string[], environment: Record<string, string>) {
  const child = spawn(program, args, {
    env: { ...process.env, NODE_NO_WARNINGS: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}
