import type { Check } from '../check.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Service } from '../service.ts'
import { inputsOf } from './inputs/inputs.ts'
import { sendRaw } from './inputs/raw-request.ts'
import { routeTable } from './inputs/route-table.ts'
import { createSenders, hostileEnvironment } from './inputs/senders.ts'
import { WrongResponses } from './inputs/wrong-responses.ts'

/**
 * Sends every hostile input at its largest. Each gets a response that is not a 500, and no error is larger than 64 KB: a small request
 * must not make the service build and send a large one. `architecture/route-shapes.test.ts` finds a route without inputs. How long an input holds the event loop is measured by `npm run bench -- guard`.
 */
export const errorSizes: Check = {
  name: 'error_sizes',
  bound: '≤ 64 KB, 0 wrong',
  async run(context) {
    const service = await Service.start()
    try {
      const { port } = await service.serve(hostileEnvironment)
      const inputs = inputsOf(context, await routeTable(), await createSenders(service))
      const progress = context.progress('inputs', inputs.length)
      const wrong = new WrongResponses()
      // One at a time: an account may send two batches at once.
      await inParallel(inputs.length, 1, async (at) => {
        const input = inputs[at]
        if (input === undefined || wrong.isEnough) return
        wrong.add(input, await sendRaw(port, input.message()))
        progress.step()
      })
      progress.end()
      return {
        value: `${Math.ceil(wrong.largest.bytes / 1024)} KB, ${wrong.all.length} wrong of ${grouped(inputs.length)}`,
        samples: wrong.largest.bytes === 0 ? 0 : inputs.length,
        ok: wrong.all.length === 0,
        note: [`largest error: ${wrong.largest.of}`, ...wrong.all.slice(0, 20)].join('\n'),
      }
    } finally {
      await service.stop()
    }
  },
}
