import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { defaultLimits } from '../../../server/src/limits/passed-limits.ts'
import type { Check } from '../../../verification/src/check.ts'
import { type Input, inputsOf } from '../../../verification/src/guard/inputs/inputs.ts'
import { message, type Sender } from '../../../verification/src/guard/inputs/message.ts'
import { Probe, sendRaw } from '../../../verification/src/guard/inputs/raw-request.ts'
import { routeTable } from '../../../verification/src/guard/inputs/route-table.ts'
import { createSenders, hostileEnvironment } from '../../../verification/src/guard/inputs/senders.ts'
import { WrongResponses } from '../../../verification/src/guard/inputs/wrong-responses.ts'
import { grouped } from '../../../verification/src/progress.ts'
import { Service } from '../../../verification/src/service.ts'
import { startCollector } from '../../../verification/src/trust/collector.ts'
import { ms, products } from '../load/fixture.ts'

const probe = fileURLToPath(new URL('../../../verification/src/guard/inputs/probe.ts', import.meta.url))
const blockMsMax = 50
/** A long iteration is measured again, and the shortest counts, because a garbage collection may fall into one. */
const repetitions = 5

/** The CPU clock of a thread may advance only with the ticks of the kernel. */
const resolutionMs = 5

/** Inputs that a missed bound names. */
const namedMax = 20

/**
 * Sends every route every type of body, header and parameter that it reads, in every shape that could be expensive, at full size.
 * No input may hold the event loop, which delays all other requests, or cause a large error response.
 */
export const inputsLinear: Check = {
  name: 'inputs_linear',
  bound: `≤ ${blockMsMax} ms, ≤ 64 KB`,
  async run(context) {
    const service = await Service.start()
    try {
      const collector = await startCollector()
      context.atEnd(async () => collector.stop())
      const socket = join(service.folder, 'probe')
      const server = await service.serve(
        {
          ...hostileEnvironment,
          BLOCK_PROBE: socket,
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
          OTEL_TRACES_SAMPLER_ARG: '1',
        },
        ['--import', probe],
      )
      const senders = await createSenders(service)
      const inputs = inputsOf(context, await routeTable(), senders)
      const measured = new Measured(server.port, await Probe.connect(socket))
      const progress = context.progress('inputs', inputs.length)
      for (const input of inputs) {
        if (measured.isEnough) break
        await measured.measure(input)
        progress.step()
      }
      progress.end()
      await measured.measureRequestLog(senders.large)
      return measured.outcome(inputs.length)
    } finally {
      await service.stop()
    }
  },
}

class Measured {
  readonly #port: number
  readonly #probe: Probe
  readonly #wrong = new WrongResponses()
  /** The longest iterations of the event loop, longest first. */
  #longest: { readonly ms: number; readonly of: string }[] = []

  constructor(port: number, to: Probe) {
    this.#port = port
    this.#probe = to
  }

  get isEnough(): boolean {
    return this.#wrong.isEnough
  }

  async measure(input: Input): Promise<void> {
    let blockMs = Number.POSITIVE_INFINITY
    // Differences below the resolution of the clock are not measurable; what is below the longest so far is not reported.
    const least = Math.max(resolutionMs, Math.min(this.#longest[0]?.ms ?? 0, blockMsMax))
    for (let n = 0; n < repetitions && blockMs > least; n++) {
      blockMs = Math.min(blockMs, await this.#once(input))
    }
    this.#add(blockMs, input.name)
  }

  /** The request log is written in batches after the responses: this measures a batch of 30 requests of maximum size. */
  async measureRequestLog(sender: Sender): Promise<void> {
    const form = Buffer.from(`filter=name=${'%41'.repeat(20_000)}&${'%42'.repeat(60_000)}`)
    const type = ['Content-Type', 'application/x-www-form-urlencoded'] as const
    const long = message('QUERY', products, sender, [type], form)
    let blockMs = Number.POSITIVE_INFINITY
    for (let n = 0; n < repetitions; n++) {
      await Promise.all(Array.from({ length: 30 }, () => sendRaw(this.#port, long)))
      await this.#probe.longestMs()
      await sleep(2 * defaultLimits.activityFlushMs)
      blockMs = Math.min(blockMs, await this.#probe.longestMs())
    }
    this.#add(blockMs, 'the log of 30 long requests')
  }

  async #once(input: Input): Promise<number> {
    const bytes = input.message()
    await this.#probe.longestMs()
    const response = await sendRaw(this.#port, bytes)
    const blockMs = await this.#probe.longestMs()
    this.#wrong.add(input, response)
    return blockMs
  }

  #add(blockMs: number, of: string): void {
    this.#longest.push({ ms: blockMs, of })
    this.#longest = this.#longest.toSorted((a, b) => b.ms - a.ms).slice(0, namedMax)
  }

  outcome(count: number) {
    this.#probe.close()
    const { all, largest } = this.#wrong
    const over = this.#longest.filter((one) => one.ms > blockMsMax)
    const named = over.length > 0 ? over : this.#longest.slice(0, 3)
    return {
      value: `${ms(this.#longest[0]?.ms ?? 0)}, ${Math.ceil(largest.bytes / 1024)} KB of ${grouped(count)}`,
      samples: count,
      ok: over.length === 0 && all.length === 0,
      note: [
        'longest iterations of the event loop:',
        ...named.map((one) => `  ${ms(one.ms)} ${one.of}`),
        `largest error: ${largest.of}`,
        `${all.length} wrong responses`,
        ...all.slice(0, namedMax),
      ].join('\n'),
    }
  }
}
