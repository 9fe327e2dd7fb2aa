/** Everything that a key may be allowed, in the order in which the service lists it. */
export const scopes = [
  'product:read',
  'product:write',
  'partner:read',
  'partner:create',
  'partner:write',
  'partner:erase',
  'company:read',
  'company:write',
  'account:manage',
] as const

export type ScopeName = (typeof scopes)[number]
