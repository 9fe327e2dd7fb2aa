import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Quartermaster } from '@quartermaster/client'
import { temporaryFolder } from '../../../server/test/at-end.ts'
import { account } from '../../../server/test/database.ts'
import { passes } from '../../../server/test/eventually.ts'
import { freshService } from '../../../server/test/service.ts'
import { main } from '../src/main.ts'
import { company, partner, product, StandIn } from './stand-in.ts'

const fields = {
  partner: { x_odoo_id: 'integer' },
  product: { x_odoo_id: 'integer', x_barcode: 'text' },
  company: { x_odoo_id: 'integer' },
} as const

/** Each file starts its own service, because files of a worker share modules. Each pair is an Odoo with records, and an account on that service. */
export async function connectedPairs() {
  const { client: database, service } = await freshService({}, { feedCheckMs: 50 })
  const baseUrl = `http://127.0.0.1:${service.port}`
  const folder = temporaryFolder('odoo')
  let count = 0
  return async () => {
    count++
    const odoo = new StandIn()
    const odooUrl = await odoo.start()
    odoo.tables['res.company'] = [company(1), company(2)]
    odoo.tables['product.product'] = Array.from({ length: 300 }, (_, i) => product(i + 1))
    odoo.tables['res.partner'] = Array.from({ length: 40 }, (_, i) => partner(i + 1))
    const acme = await account(database, `acme${count}`)
    // The service finds the account by its host, which fetch cannot set.
    const toAccount: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set('x-forwarded-host', `${acme.name}.localhost`)
      return fetch(input, { ...init, headers })
    }
    const [config, state] = [join(folder, `${count}.json`), join(folder, `${count}.state.json`)]
    const configure = (more: object) =>
      writeFileSync(
        config,
        JSON.stringify({
          odoo: { url: odooUrl, database: 'odoo' },
          quartermaster: { url: baseUrl },
          ...more,
        }),
      )
    configure({})
    const command = async (args: string, signal = new AbortController().signal) => {
      const texts = { out: '', err: '' }
      const code = await main([...args.split(' '), '--config', config, '--state', state], {
        env: { ODOO_KEY: 'secret', QUARTERMASTER_KEY: acme.key },
        out: (text) => (texts.out += text),
        err: (text) => (texts.err += text),
        signal,
        fetch: toAccount,
      })
      return { code, ...texts }
    }
    const qm = new Quartermaster({ baseUrl, apiKey: acme.key, fields, fetch: toAccount })
    return { odoo, qm, command, configure, state }
  }
}

/** What the copy of a resource has: its Odoo ids. */
export async function idsOf(records: {
  all(options: { fields: ['x_odoo_id'] }): AsyncIterable<{ x_odoo_id: number | null }>
}): Promise<(number | null)[]> {
  const ids: (number | null)[] = []
  for await (const { x_odoo_id: id } of records.all({ fields: ['x_odoo_id'] })) ids.push(id)
  return ids.toSorted((a, b) => (a ?? 0) - (b ?? 0))
}

/** Repeats the assertions until they pass, as long as the command runs. */
export async function whileRuns(
  running: Promise<{ readonly code: number; readonly err: string }>,
  assertions: () => void | Promise<void>,
): Promise<void> {
  const ended = running.then(({ code, err }) => {
    throw new Error(`The command ended with ${code}: ${err}`)
  })
  await Promise.race([passes(assertions), ended])
}
