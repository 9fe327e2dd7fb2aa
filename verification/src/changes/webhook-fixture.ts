import { Receiver, receiverAddress } from '../../../server/test/webhook-receiver.ts'
import type { Stoppable } from '../check.ts'
import { Client, headersFor } from '../client.ts'
import { Service } from '../service.ts'

export interface WebhookFixture extends Stoppable {
  readonly service: Service
  readonly receiver: Receiver
  readonly client: Client
  readonly key: string
  /** For processes that send webhooks to the receiver. */
  readonly environment: Readonly<Record<string, string>>
}

export const account = 'acme'

/** A database, a receiver of webhooks in this process, and an account. */
export async function startWebhookFixture(): Promise<WebhookFixture> {
  const service = await Service.start({ max_connections: '200' })
  const receiver = new Receiver()
  const client = new Client(64)
  const stop = async () => {
    client.close()
    await service.stop()
    await receiver.stop()
  }
  try {
    await receiver.start()
    const environment = {
      QUARTERMASTER_WEBHOOK_SECRET: 'a-master-key-of-at-least-32-characters',
      QUARTERMASTER_WEBHOOK_NETWORKS: receiverAddress,
      NODE_EXTRA_CA_CERTS: receiver.authorityFile,
    }
    return { service, receiver, client, key: await service.account(account), environment, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Creates and activates a webhook for products, and returns its id. */
export async function addWebhook(
  { client, receiver, key }: WebhookFixture,
  port: number,
  members: object = {},
): Promise<string> {
  const post = async (path: string, body?: object) => {
    const response = await client.send({
      port,
      method: 'POST',
      path: `/manage/v1/webhooks${path}`,
      headers: [
        ...headersFor(account, key),
        ...(body === undefined ? [] : ['Content-Type', 'application/json']),
      ],
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (response.status >= 300) throw new Error(`${response.status} ${response.text}`)
    const { data }: { data: { id: string } } = JSON.parse(response.text)
    return data.id
  }
  const id = await post('', { resource: 'product', url: receiver.url, ...members })
  await post(`/${id}/activate`)
  return id
}
