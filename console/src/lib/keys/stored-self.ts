/** What the key of this tab is and may do, as the service says. It is kept with the key, and ends with the tab. */
export interface Self {
  readonly account: string
  readonly key_id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly created_at: string
  /** Null: never. */
  readonly expires_at: string | null
}

const storageName = 'quartermaster.self'

export function readStoredSelf(): Self | undefined {
  const stored = sessionStorage.getItem(storageName)
  return stored === null ? undefined : JSON.parse(stored)
}

export function storeSelf(self: Self): void {
  sessionStorage.setItem(storageName, JSON.stringify(self))
}

/** Another key is another self. */
export function forgetSelf(): void {
  sessionStorage.removeItem(storageName)
}

export const resourceLists = [
  ['product', '/products'],
  ['partner', '/partners'],
  ['company', '/companies'],
] as const

/** The list that a person sees first: one that the key may read. */
export function landingOf(self: Pick<Self, 'scopes'> | undefined) {
  if (self === undefined) return resourceLists[0]
  const readable = resourceLists.find(([name]) => self.scopes.includes(`${name}:read`))
  return readable ?? (self.scopes.includes('account:manage') ? (['key', '/keys'] as const) : resourceLists[0])
}
