import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Scope, scopes } from '../src/accounts/key-format.ts'
import { account, type TestAccount } from './database.ts'
import { freshService } from './service.ts'

/** The scopes in the table of endpoints in docs/api.md. `architecture/generated.test.ts` proves that it lists every route. */

const document = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')
const listed = [...document.matchAll(/^\| `(\/(?:api|manage)\/[^`]*)` \| (`[A-Z]+` .*) \|$/gm)].flatMap(
  ([, path = '', methods = '']) =>
    [...methods.matchAll(/`([A-Z]+)` ([^;]*)/g)].map(([, method = '', text = '']) => {
      const [, exception] = /\((.*)\)$/.exec(text) ?? []
      return { method, path, cell: exception ?? usual(method, path) }
    }),
)

/** What the page says above the table. */
function usual(method: string, path: string): string {
  if (path.startsWith('/manage/v1/')) return '`account:manage`'
  const [, resource] = /^\/api\/v1\/\w+\/(\w+)/.exec(path) ?? []
  return `\`${resource}:${method === 'GET' ? 'read' : 'write'}\``
}

/** Partners and companies have the endpoints of products, except adjustments and those that the table lists by themselves. */
const ofOthers = ['partner', 'company'].flatMap((name) =>
  listed
    .filter(({ path }) => path.startsWith('/api/v1/inventory/product') && !path.endsWith('/adjust'))
    .map(({ method, path, cell }) => ({
      method,
      path: path.replace('inventory/product', `resources/${name}`),
      cell: cell.replaceAll('product:', `${name}:`),
    }))
    .filter((one) => !listed.some(({ method, path }) => method === one.method && path === one.path)),
)

const endpoints = [...listed, ...ofOthers].map(({ method, path, cell }) => ({
  method,
  path: path.replace('{key}', 'x_sku').replace(/\{\w+\}/, '1'),
  allowing: scopes.filter((scope) => cell === 'any scope' || cell.includes(`\`${scope}\``)),
}))

const accounts = new Map<string, TestAccount>()

const { client, service } = await freshService()

async function keyWith(granted: readonly Scope[]): Promise<TestAccount> {
  const known = accounts.get(granted.join())
  if (known !== undefined) return known
  const created = await account(client, `account-${accounts.size}`, granted)
  accounts.set(granted.join(), created)
  // Paths with a unique field exist only for accounts that have declared one.
  const { accountId } = created
  await client.query(
    `insert into field (account_id, resource, number, name, type, label, unique_state)
     select account_id, resource, 1, 'x_sku', 'text', '', 'ready' from tally where account_id = $1`,
    [accountId],
  )
  await client.query('update tally set schema = 1 where account_id = $1', [accountId])
  return created
}

async function responseTo({ method, path }: { method: string; path: string }, by: TestAccount) {
  if (method === 'GET' || method === 'HEAD' || method === 'DELETE') return service.request(by, method, path)
  const isBatch = path.endsWith('/batch')
  const type = method === 'QUERY' ? 'application/x-www-form-urlencoded' : 'application/json'
  return service.request(by, method, path, {
    headers: { 'content-type': isBatch ? 'application/x-ndjson' : type },
    body: isBatch ? '' : method === 'QUERY' ? 'limit=1' : '{}',
  })
}

it('the document lists the endpoints', () => {
  expect(endpoints.length).toBeGreaterThan(35)
  expect(endpoints.filter(({ allowing }) => allowing.length === 0)).toEqual([])
})

it.each(endpoints)('$method $path needs $allowing', async ({ method, path, allowing }) => {
  const isList = method === 'GET' && !path.endsWith('/1') && !/\/(?:cors|self)$/.test(path)
  const methods = method === 'GET' ? ['GET', 'HEAD', ...(isList ? ['QUERY'] : [])] : [method]
  const without = await keyWith(scopes.filter((scope) => !allowing.includes(scope)))
  for (const one of methods) {
    const { status, body } = await responseTo({ method: one, path }, without)
    expect([one, status]).toEqual([one, 403])
    if (one !== 'HEAD') {
      const detail = `This request needs the scope ${allowing.join(' or ')}, which the key does not have.`
      expect(body).toMatchObject({ code: 'scope_missing', detail })
    }
    for (const scope of allowing) {
      const asked = scope === 'partner:erase' && one === 'DELETE' ? `${path}?erase=true` : path
      const allowed = await responseTo({ method: one, path: asked }, await keyWith([scope]))
      expect([200, 400, 404, 501], `${one} with ${scope}`).toContain(allowed.status)
    }
  }
})
