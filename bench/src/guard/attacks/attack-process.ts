import { once } from 'node:events'
import type { Target } from './attack.ts'
import { growth } from './growth.ts'
import { attacks } from './table.ts'

/** Runs one attack: prepares it, waits for `go`, and attacks until it is told to stop. */

export interface Order {
  readonly name: string
  readonly target: Target
}

const [order]: Order[] = await once(process, 'message')
if (order === undefined) throw new Error('there is no order')
const { name, target } = order
const attack = [...attacks, growth].find((one) => one.name === name)
if (attack === undefined) throw new Error(`there is no attack ${name}`)
await attack.prepare?.(target)
const started = once(process, 'message')
process.send?.('prepared')
await started
const stop = new AbortController()
process.once('message', () => stop.abort())
await attack.run(target, stop.signal)
process.exit()
