import { sendManage } from './manage.ts'

/** Requests that change webhooks. Their lists are read like any other: `read.ts`. */

/** Where the changes of a webhook begin: `now`, `beginning`, the number of a version, or a cursor. */
export type Since = string | number

export interface NewWebhook {
  readonly resource: string
  readonly url: string
  readonly filter: string | null
  readonly fields: readonly string[] | null
  readonly since: Since
}

export type WebhookChange = Pick<NewWebhook, 'url' | 'filter' | 'fields'>

export interface WebhookSecret {
  readonly id: string
  readonly secret: string
}

export interface TestResult {
  readonly message_id: string
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number
}

interface Data<T> {
  readonly data: T
}

const path = '/manage/v1/webhooks'
const pathOf = (id: string, action = '') => `${path}/${encodeURIComponent(id)}${action}`

export async function createWebhook(webhook: NewWebhook): Promise<WebhookSecret> {
  return (await sendManage<Data<WebhookSecret>>(path, { body: webhook })).body.data
}

export async function changeWebhook(id: string, change: WebhookChange): Promise<void> {
  await sendManage(pathOf(id), { method: 'PATCH', body: change })
}

export async function deleteWebhook(id: string): Promise<void> {
  await sendManage(pathOf(id), { method: 'DELETE' })
}

/** Throws RequestFailed with the code `webhook_unverified` if the receiver does not return the challenge. */
export async function activateWebhook(id: string): Promise<void> {
  await sendManage(pathOf(id, '/activate'), { method: 'POST' })
}

export async function pauseWebhook(id: string): Promise<void> {
  await sendManage(pathOf(id, '/pause'), { method: 'POST' })
}

export async function rotateWebhook(id: string): Promise<WebhookSecret> {
  return (await sendManage<Data<WebhookSecret>>(pathOf(id, '/rotate'), { method: 'POST' })).body.data
}

export async function replayWebhook(id: string, since: Since): Promise<void> {
  await sendManage(pathOf(id, '/replay'), { body: { since } })
}

export async function testWebhook(id: string): Promise<TestResult> {
  return (await sendManage<Data<TestResult>>(pathOf(id, '/test'), { method: 'POST' })).body.data
}
