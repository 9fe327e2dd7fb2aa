import { expect, it, vi } from 'vitest'
import { check } from '../filter/diagnostics.ts'
import { collections } from './catalog.ts'
import { newRequestId, notOfConsole } from './request-id.ts'

vi.stubGlobal('sessionStorage', { getItem: () => null })
const { accessOf } = await import('./access.ts')

const accessWith = (...scopes: string[]) =>
  accessOf({ account: 'acme', key_id: 'a', name: 'shop', scopes, created_at: '', expires_at: null })

it('offers what the scopes of the key allow', () => {
  expect(accessWith('product:read', 'partner:create')).toMatchObject({
    product: true,
    partner: false,
    manage: false,
    create: ['partner'],
    write: [],
  })
  expect(accessWith('partner:write', 'partner:create', 'account:manage')).toMatchObject({
    manage: true,
    create: ['partner'],
    write: ['partner'],
  })
})

it('marks requests of the console with an id that the service accepts, and that the log can leave out', () => {
  expect(newRequestId()).toMatch(/^console-[0-9a-f]{32}$/)
  expect(check(notOfConsole, collections.request).diagnostics).toEqual([])
})
