import { sendManage } from './manage.ts'

/** Requests that declare and change the fields of the account. Their list is read like any other: `read.ts`. */

export interface NewField {
  readonly resource: string
  readonly name: string
  /** Undefined for a field that every account has. */
  readonly type?: string
  readonly label: string
  readonly unique: boolean
}

const path = '/manage/v1/fields'

/** Returns the id of the field. */
export async function declareField(field: NewField): Promise<string> {
  return (await sendManage<{ readonly data: { readonly id: string } }>(path, { body: field })).body.data.id
}

export async function relabelField(id: string, label: string): Promise<void> {
  await sendManage(`${path}/${encodeURIComponent(id)}`, { method: 'PATCH', body: { label } })
}

export async function deleteField(id: string): Promise<void> {
  await sendManage(`${path}/${encodeURIComponent(id)}`, { method: 'DELETE' })
}
