import { type RequestOptions, send } from './client.ts'

/** A key that an example may rotate or revoke. */
export async function newKeyId(account: RequestOptions): Promise<string> {
  const response = await send('/manage/v1/keys', {
    ...account,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"for an example","scopes":["product:read"]}',
  })
  const { data }: { data: { key_id: string } } = JSON.parse(response.text)
  return data.key_id
}

/** A webhook that an example may change. Deletes those of earlier examples: their number is limited. */
export async function newWebhookId(account: RequestOptions): Promise<string> {
  const url = '/manage/v1/webhooks'
  const existing = await send(`${url}?fields=id&limit=1000`, account)
  const { data: old }: { data: readonly { id: string }[] } = JSON.parse(existing.text)
  for (const { id } of old.slice(1)) await send(`${url}/${id}`, { ...account, method: 'DELETE' })
  const response = await send(url, {
    ...account,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"resource":"product","url":"https://receiver.invalid/","filter":"list_price>10","fields":["id","name"]}',
  })
  const { data }: { data: { id: string } } = JSON.parse(response.text)
  return data.id
}
