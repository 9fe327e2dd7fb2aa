import { type OperatorScope, operatorScopes } from '../../../server/src/accounts/operators/tokens.ts'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import { operatorRoutes } from '../../../server/src/http/operator/operator-routes.ts'
import type { Check } from '../check.ts'
import { grouped } from '../progress.ts'
import { Service } from '../service.ts'
import { waitUntil } from '../wait-until.ts'

type Port = 'operator' | 'public' | 'admin'

/** Every operator route with every set of scopes, no token, a key, and on every port of the processes. */
export const operatorScopesRight: Check = {
  name: 'operator_scopes',
  bound: '0 wrong',
  async run() {
    const service = await Service.start()
    try {
      const key = await service.account('acme')
      const admin = await freePort()
      const server = await service.serve({ QUARTERMASTER_ADMIN_PORT: String(admin) })
      const operator = await freePort()
      service.spawn(['operator', 'serve', '--port', String(operator)])
      await waitUntil(() => isListening(operator))
      const wrong: string[] = []
      let sent = 0
      const ports: Record<Port, number> = { operator, public: server.port, admin }
      const sets = Array.from({ length: 2 ** operatorScopes.length - 1 }, (_, n) =>
        operatorScopes.filter((_scope, bit) => ((n + 1) & (1 << bit)) !== 0),
      )
      const tokens: (readonly [string, readonly OperatorScope[]])[] = [
        ['', []],
        [key, []],
      ]
      for (const scopes of sets) tokens.push([await tokenWith(service, scopes), scopes])
      for (const route of operatorRoutes) {
        for (const [token, scopes] of tokens) {
          for (const port of ['operator', 'public', 'admin'] as const) {
            const status = await statusOf(
              ports[port],
              route.method,
              route.path,
              token,
              route.body !== undefined,
            )
            sent++
            if (
              !isRight(
                status,
                port,
                token === '' || token === key,
                scopes.includes(route.scope),
                route.method,
              )
            )
              wrong.push(
                `${port} ${route.method} ${route.path} with ${scopes.join() || 'no token'}: ${status}`,
              )
          }
        }
      }
      return {
        value: `${wrong.length} of ${grouped(sent)}`,
        samples: sent,
        ok: wrong.length === 0,
        note: wrong.slice(0, 20).join('\n'),
      }
    } finally {
      await service.stop()
    }
  },
}

function isRight(status: number, port: Port, isForeign: boolean, mayPass: boolean, method: string): boolean {
  if (port === 'admin') return status === (method === 'GET' ? 404 : 405)
  // On the public port the key is that of an account: its host has no such path.
  if (port === 'public') return status === 401 || status === 404
  if (isForeign) return status === 401
  return mayPass ? status !== 401 && status !== 403 && status < 500 : status === 403
}

async function tokenWith(service: Service, scopes: readonly OperatorScope[]): Promise<string> {
  const out = await service.command([
    'operator',
    'token',
    'create',
    '--name',
    'check',
    '--scopes',
    scopes.join(),
  ])
  return out.trim()
}

/** The body has an unknown member, so that nothing is changed. */
async function statusOf(
  port: number,
  method: string,
  path: string,
  token: string,
  hasBody: boolean,
): Promise<number> {
  const url = `http://127.0.0.1:${port}${path.replace('{name}', 'nobody').replace('{key_id}', 'abcdefgh')}`
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
    },
    ...(hasBody ? { body: '{"unknown":true}' } : {}),
  })
  await response.arrayBuffer()
  return response.status
}

async function isListening(port: number): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}
