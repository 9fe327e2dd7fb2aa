import { queryOptions } from '@tanstack/react-query'
import { type CollectionName, collections } from './catalog.ts'
import { RequestFailed } from './exchange.ts'
import { readList } from './read.ts'

/** The lists that the key of this tab may read. Found by requests: no endpoint reports the scopes of a key. */
export type Access = Readonly<Record<'product' | 'partner' | 'company' | 'manage', boolean>>

const storageName = 'quartermaster.access'
const probes = { product: 'product', partner: 'partner', company: 'company', manage: 'key' } as const

export const accessQuery = queryOptions({
  queryKey: ['access'],
  queryFn: async (): Promise<Access> => {
    const stored = sessionStorage.getItem(storageName)
    if (stored !== null) return JSON.parse(stored)
    const access = await probeAccess()
    sessionStorage.setItem(storageName, JSON.stringify(access))
    return access
  },
  staleTime: Number.POSITIVE_INFINITY,
})

/** Throws RequestFailed if the service does not accept the key, or cannot be reached. */
export async function probeAccess(): Promise<Access> {
  const [product, partner, company, manage] = await Promise.all(Object.values(probes).map(mayRead))
  return {
    product: product === true,
    partner: partner === true,
    company: company === true,
    manage: manage === true,
  }
}

async function mayRead(name: CollectionName): Promise<boolean> {
  try {
    await readList(name, { fields: collections[name].fields[0]?.name, limit: '1' })
    return true
  } catch (error) {
    if (error instanceof RequestFailed && error.problem.code === 'scope_missing') return false
    throw error
  }
}
