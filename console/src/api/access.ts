import { queryOptions } from '@tanstack/react-query'
import { readStoredSelf, type Self, storeSelf } from '../lib/keys/stored-self.ts'
import { currentKey } from '../session.ts'
import { sendManage } from './manage.ts'

/** What the key of this tab may do: actions that would be rejected are not offered. */
export interface Access extends Readonly<Record<'product' | 'partner' | 'company' | 'manage', boolean>> {
  /** Resources of which the key may create records. */
  readonly create: readonly string[]
  /** Resources of which the key may change and delete records. */
  readonly write: readonly string[]
  readonly self: Self
}

export const selfQuery = queryOptions({
  queryKey: ['self'],
  queryFn: async (): Promise<Self> => {
    const key = currentKey()
    const self = await readSelf()
    if (currentKey() === key) storeSelf(self)
    return self
  },
  initialData: readStoredSelf,
  // The scopes of a key never change.
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
})

/** The lists that the key may read, and what it may change. */
export const accessQuery = { ...selfQuery, select: accessOf }

/** Throws RequestFailed if the service does not accept the key, or cannot be reached. */
export async function readSelf(): Promise<Self> {
  return (await sendManage<{ data: Self }>('/manage/v1/self')).body.data
}

export function accessOf(self: Self): Access {
  const has = (scope: string) => self.scopes.includes(scope)
  const write = ['product', 'partner', 'company'].filter((name) => has(`${name}:write`))
  return {
    product: has('product:read'),
    partner: has('partner:read'),
    company: has('company:read'),
    manage: has('account:manage'),
    create: has('partner:create') ? [...new Set([...write, 'partner'])] : write,
    write,
    self,
  }
}
