import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { limits } from '../../../server/src/limits/limits.ts'
import type { Check, Context } from '../../../verification/src/check.ts'
import { type Input, inputsOf } from '../../../verification/src/guard/inputs/inputs.ts'
import { Probe, sendRaw } from '../../../verification/src/guard/inputs/raw-request.ts'
import { requestParts, type Sender } from '../../../verification/src/guard/inputs/request-parts.ts'
import { createSenders } from '../../../verification/src/guard/inputs/senders.ts'
import { grouped } from '../../../verification/src/progress.ts'
import { Service } from '../../../verification/src/service.ts'
import { startCollector } from '../../../verification/src/trust/collector.ts'
import { ms } from '../load/fixture.ts'

const probe = fileURLToPath(new URL('../../../verification/src/guard/inputs/probe.ts', import.meta.url))
const cachedResponseBytesMax = 64 * 1024
/** A long iteration is measured again, and the shortest counts, because a garbage collection may fall into one. */
const repetitions = 5

/** The CPU clock of a thread may advance only with the ticks of the kernel. */
const resolutionMs = 5

interface Worst {
  readonly value: number
  readonly of: string
}

/**
 * Fills every part of a request that the service reads with every shape that could be expensive, at full size, with and
 * without a key. No input may block the event loop, which delays all other requests, or cause a large error response.
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
          QUARTERMASTER_TRUSTED_PROXIES: '127.0.0.1',
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
          OTEL_TRACES_SAMPLER_ARG: '1',
        },
        ['--import', probe],
      )
      const callers = await createSenders(service)
      const inputs = inputsOf(context, callers)
      const measured = new Measured(server.port, await Probe.connect(socket))
      const progress = context.progress('inputs', inputs.length)
      for (const input of inputs) {
        await measured.measure(input)
        progress.step()
      }
      progress.end()
      await measured.measureRequestLog(callers.large)
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
  #response: Worst = { value: 0, of: 'nothing' }

  constructor(port: number, to: Probe) {
    this.#port = port
    this.#probe = to
  }

  async measure(input: Input): Promise<void> {
    let blockMs = Number.POSITIVE_INFINITY
    // Differences below the resolution of the clock are not measurable.
    const least = Math.max(this.#block.value, resolutionMs)
    for (let n = 0; n < repetitions && blockMs > least; n++) {
      blockMs = Math.min(blockMs, await this.#once(input))
    }
    if (blockMs > this.#block.value) this.#block = { value: blockMs, of: input.name }
  }

  /** The request log is written in batches after the responses: this measures a batch of 30 requests of maximum size. */
  async measureRequestLog(sender: Sender): Promise<void> {
    const part = requestParts.find(({ name }) => name === 'filter of a QUERY')
    if (part === undefined) throw new Error('no such part of a request')
    const body = part.message(`name=${'%41'.repeat(20_000)}&${'%42'.repeat(60_000)}`, sender)
    let blockMs = Number.POSITIVE_INFINITY
    for (let n = 0; n < repetitions; n++) {
      await Promise.all(Array.from({ length: 30 }, () => sendRaw(this.#port, body)))
      await this.#probe.longestMs()
      await sleep(2 * limits.activityFlushMs)
      blockMs = Math.min(blockMs, await this.#probe.longestMs())
    }
    if (blockMs > this.#block.value) this.#block = { value: blockMs, of: 'the log of 30 long requests' }
  }

  async #once({ name, message }: Input): Promise<number> {
    await this.#probe.longestMs()
    const { status, bytes, start } = await sendRaw(this.#port, message())
    const blockMs = await this.#probe.longestMs()
    if (status >= 400 && bytes > this.#response.value) this.#response = { value: bytes, of: name }
    // Every request must get a response other than 500. A 504 is allowed: a busy machine may be too slow for a filter.
    if (status === 0 || status === 500) this.#wrong.push(`${name}: ${start.slice(0, 300) || 'no response'}`)
    return blockMs
  }

  outcome(context: Context, count: number) {
    this.#probe.close()
    const [block, response] = [this.#block, this.#response]
    const isShort = block.value <= context.size(50, 500) && response.value <= cachedResponseBytesMax
    return {
      value: `${ms(block.value)}, ${(response.value / 1024).toFixed(0)} KB of ${grouped(count)}`,
      samples: count,
      ok: isShort && this.#wrong.length === 0,
      note: [
        `longest iteration: ${block.of}`,
        `largest response: ${response.of}`,
        `${this.#wrong.length} without a response or with a 500`,
        ...this.#wrong.slice(0, 5),
      ].join('\n'),
    }
  }
}
