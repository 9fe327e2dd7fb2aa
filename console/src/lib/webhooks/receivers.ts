import node from '../../../../examples/webhook-receiver.mjs?raw'
import php from '../../../../examples/webhook-receiver.php?raw'
import python from '../../../../examples/webhook-receiver.py?raw'

/** Programs that receive a webhook. `server/test/webhook-examples.test.ts` runs them. */
export const receivers = [
  { name: 'Node', code: node },
  { name: 'Python', code: python },
  { name: 'PHP', code: php },
] as const

export type ReceiverName = (typeof receivers)[number]['name']
