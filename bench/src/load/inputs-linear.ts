import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { generateKey, hashOfKey, newKeyId, scopes } from '../../../server/src/accounts/key-format.ts'
import { limits } from '../../../server/src/limits.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context } from '../../../verification/src/check.ts'
import { fill } from '../../../verification/src/plans/data.ts'
import { grouped } from '../../../verification/src/progress.ts'
import { Service } from '../../../verification/src/service.ts'
import { startCollector } from '../../../verification/src/trust/collector.ts'
import { askRaw, Probe } from '../../../verification/src/trust/inputs/ask.ts'
import { filters } from '../../../verification/src/trust/inputs/filters.ts'
import {
  filterPlaces,
  type Place,
  places,
  type Sender,
} from '../../../verification/src/trust/inputs/places.ts'
import { shapes } from '../../../verification/src/trust/inputs/shapes.ts'
import { ms } from './fixture.ts'

const probe = fileURLToPath(new URL('inputs/probe.ts', import.meta.url))
const cachedResponseBytesMax = 64 * 1024
/** A turn that seems long is measured again, and the shortest counts: a collection of garbage is not the input's doing. */
const repetitions = 5

/** A thread's own clock may go on only with the ticks of the kernel. */
const resolutionMs = 5

interface Input {
  readonly name: string
  /** Made when it is sent: all of them together are gigabytes. */
  readonly message: () => Buffer
}

interface Worst {
  readonly value: number
  readonly of: string
}

/**
 * Every part of a request that the service reads, filled with every shape that could be expensive, at its full size, with
 * and without a key. No input may hold up the event loop, and with it everybody else, and none is answered at length.
 */
export const inputsLinear: Check = {
  name: 'inputs_linear',
  bound: '≤ 50 ms, ≤ 64 KB (quick: 500 ms)',
  async run(context) {
    const service = await Service.start()
    try {
      const collector = await startCollector()
      context.atEnd(async () => collector.stop())
      const socket = join(service.folder, 'probe')
      const server = await service.serve(
        {
          BLOCK_PROBE: socket,
          TRUSTED_PROXIES: '127.0.0.1',
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
          OTEL_TRACES_SAMPLER_ARG: '1',
        },
        ['--import', probe],
      )
      const callers = await senders(service)
      const inputs = inputsOf(context, callers)
      const measured = new Measured(server.port, await Probe.connect(socket))
      const progress = context.progress('inputs', inputs.length)
      for (const input of inputs) {
        await measured.take(input)
        progress.step()
      }
      progress.end()
      await measured.writing(callers.large)
      return measured.outcome(context, inputs.length)
    } finally {
      await service.stop()
    }
  },
}

class Measured {
  readonly #port: number
  readonly #probe: Probe
  readonly #wrong: string[] = []
  #block: Worst = { value: 0, of: 'nothing' }
  #answer: Worst = { value: 0, of: 'nothing' }

  constructor(port: number, to: Probe) {
    this.#port = port
    this.#probe = to
  }

  async take(input: Input): Promise<void> {
    let blockMs = Number.POSITIVE_INFINITY
    // Below the resolution of the clock there is nothing to tell apart.
    const least = Math.max(this.#block.value, resolutionMs)
    for (let n = 0; n < repetitions && blockMs > least; n++) {
      blockMs = Math.min(blockMs, await this.#once(input))
    }
    if (blockMs > this.#block.value) this.#block = { value: blockMs, of: input.name }
  }

  /** Requests are logged together, some time after their answers: as many as may wait, each as long as it may be. */
  async writing(sender: Sender): Promise<void> {
    const place = places.find(({ name }) => name === 'filter of a QUERY')
    if (place === undefined) throw new Error('no such place')
    const body = place.message(`name=${'%41'.repeat(20_000)}&${'%42'.repeat(60_000)}`, sender)
    let blockMs = Number.POSITIVE_INFINITY
    for (let n = 0; n < repetitions; n++) {
      await Promise.all(Array.from({ length: 30 }, () => askRaw(this.#port, body)))
      await this.#probe.longestMs()
      await sleep(2 * limits.activityFlushMs)
      blockMs = Math.min(blockMs, await this.#probe.longestMs())
    }
    if (blockMs > this.#block.value) this.#block = { value: blockMs, of: 'the log of 30 long requests' }
  }

  async #once({ name, message }: Input): Promise<number> {
    await this.#probe.longestMs()
    const { status, bytes, start } = await askRaw(this.#port, message())
    const blockMs = await this.#probe.longestMs()
    if (status >= 400 && bytes > this.#answer.value) this.#answer = { value: bytes, of: name }
    // Everything is answered, and nothing that a caller sends is our fault. (504: a machine this busy was too slow for a filter.)
    if (status === 0 || status === 500) this.#wrong.push(`${name}: ${start.slice(0, 300) || 'no answer'}`)
    return blockMs
  }

  outcome(context: Context, count: number) {
    this.#probe.close()
    const [block, answer] = [this.#block, this.#answer]
    const isShort = block.value <= context.size(50, 500) && answer.value <= cachedResponseBytesMax
    return {
      value: `${ms(block.value)}, ${(answer.value / 1024).toFixed(0)} KB of ${grouped(count)}`,
      ok: isShort && this.#wrong.length === 0,
      note: [
        `longest turn: ${block.of}`,
        `largest answer: ${answer.of}`,
        `${this.#wrong.length} without an answer or with a 500`,
        ...this.#wrong.slice(0, 5),
      ].join('\n'),
    }
  }
}

/** In small, one shape of twelve in each place, others in the next. */
function inputsOf(context: Context, { large, small, stranger }: Senders): Input[] {
  const every = context.size(1, 12)
  return [
    ...filterPlaces.flatMap((place, at) =>
      Object.entries(filters)
        .filter((_, n) => (n + at) % context.size(1, 3) === 0)
        .flatMap(([what, filter]) =>
          [large, small].map((sender) => inputOf(place, what, () => filter, sender)),
        ),
    ),
    ...places.flatMap((place, at) =>
      shapes
        .filter((_, n) => (n + at) % every === 0)
        .flatMap((shape) =>
          [large, stranger].map((sender) => inputOf(place, shape.name, () => shape.of(place.room), sender)),
        ),
    ),
  ]
}

function inputOf(place: Place, what: string, text: () => string, sender: Sender): Input {
  return { name: `${place.name}, ${sender.name}: ${what}`, message: () => place.message(text(), sender) }
}

interface Senders {
  readonly large: Sender
  readonly small: Sender
  readonly stranger: Sender
}

/** An account of a few records, one of many, and a stranger: each is served another way. */
async function senders(service: Service): Promise<Senders> {
  const made = [generateKey(), generateKey()]
  const hosts = await withClient(service.postgres.url, async (client) => {
    await fill(client, 'varied', 3_000, 2)
    const { rows } = await client.query<{ account_id: string; name: string }>(
      'select account_id, name from account order by account_id',
    )
    for (const [i, { account_id }] of rows.entries()) {
      await client.query(
        `insert into api_key (account_id, key_id, hash, name, scopes) values ($1, $2, decode($3, 'hex'), 'benchmarks', $4)`,
        [account_id, newKeyId(), hashOfKey(made[i] ?? ''), [...scopes]],
      )
    }
    return rows.map(({ name }) => `${name}.localhost`)
  })
  const [large = '', small = ''] = hosts
  return {
    large: { name: 'with a key', host: large, key: made[0] },
    small: { name: 'with a key of a small account', host: small, key: made[1] },
    stranger: { name: 'without a key', host: large, key: undefined },
  }
}
