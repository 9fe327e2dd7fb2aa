import type { Check } from '../check.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Service } from '../service.ts'
import { inputsOf } from './inputs/inputs.ts'
import { sendRaw } from './inputs/raw-request.ts'
import { createSenders } from './inputs/senders.ts'

const errorBytesMax = 64 * 1024

/**
 * Sends every hostile input at its largest. Each gets a response that is not a 500, and no error is larger than 64 KB: a small request
 * must not make the service build and send a large one. How long an input holds the event loop is measured by `npm run bench -- guard`.
 */
export const errorSizes: Check = {
  name: 'error_sizes',
  bound: '≤ 64 KB, 0 unanswered',
  async run(context) {
    const service = await Service.start()
    try {
      const { port } = await service.serve({ QUARTERMASTER_TRUSTED_PROXIES: '127.0.0.1' })
      const inputs = inputsOf(context, await createSenders(service))
      const progress = context.progress('inputs', inputs.length)
      const wrong: string[] = []
      let largest = { bytes: 0, of: 'nothing' }
      await inParallel(inputs.length, 4, async (at) => {
        const input = inputs[at]
        if (input === undefined) return
        const { status, bytes, start } = await sendRaw(port, input.message())
        if (status >= 400 && bytes > largest.bytes) largest = { bytes, of: input.name }
        if (status >= 400 && bytes > errorBytesMax) wrong.push(`${bytes} bytes: ${input.name}`)
        // A 504 is allowed: a busy machine may be too slow for a filter.
        if (status === 0 || status === 500)
          wrong.push(`${input.name}: ${start.slice(0, 300) || 'no response'}`)
        progress.step()
      })
      progress.end()
      return {
        value: `${Math.ceil(largest.bytes / 1024)} KB, ${wrong.length} wrong of ${grouped(inputs.length)}`,
        samples: largest.bytes === 0 ? 0 : inputs.length,
        ok: wrong.length === 0,
        note: [`largest error: ${largest.of}`, ...wrong.slice(0, 20)].join('\n'),
      }
    } finally {
      await service.stop()
    }
  },
}
