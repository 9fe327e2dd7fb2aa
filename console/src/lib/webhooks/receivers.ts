import node from '../../../../examples/webhook-receiver.mjs?raw'
import php from '../../../../examples/webhook-receiver.php?raw'
import python from '../../../../examples/webhook-receiver.py?raw'

/** Programs that receive a webhook. `server/test/webhook-examples.test.ts` runs them. */
export const receivers = [
  { name: 'Node', file: 'webhook-receiver.mjs', code: node },
  { name: 'Python', file: 'webhook-receiver.py', code: python },
  { name: 'PHP', file: 'webhook-receiver.php', code: php },
] as const

export type ReceiverName = (typeof receivers)[number]['name']
