import { createHash } from 'node:crypto'
import { importRecords } from '../../../server/src/import/import-records.ts'
import type { Check } from '../check.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { openList } from './export-fixture.ts'

/**
 * A writer changes some hundred quantities at a time and adds a record, each time one version; exports run meanwhile.
 * Each has to be, byte for byte, what one version is known to be: the one that it names.
 */
export const exportConsistent: Check = {
  name: 'export_consistent',
  bound: '= all of one version',
  async run(context) {
    const service = await Service.start()
    try {
      const key = await service.account('acme')
      const server = await service.serve()
      const world = new World(service.postgres.url, context.size(200_000, 20_000), new Random(context.seed))
      await world.begin()
      const stop = new AbortController()
      const writing = world.write(stop.signal)
      const exports = context.size(60, 12)
      const seen = new Set<string>()
      const torn: string[] = []
      for (let n = 0; n < exports; n++) {
        const csv = n % 2 === 1
        const accept = csv ? 'text/csv' : 'application/x-ndjson'
        const answer = await openList(server.port, 'acme', key, '?fields=id,qty_available', { accept })
        const [, state = '', version = ''] = /^W\/"([0-9a-f]+-(\d+))-/.exec(answer.headers.etag ?? '') ?? []
        let text = ''
        for await (const piece of answer.setEncoding('utf8')) text += String(piece)
        seen.add(version)
        if (sumOf(csv ? text : withoutState(text, state)) !== world.sumOf(version, csv))
          torn.push(`${accept} at version ${version}`)
      }
      stop.abort()
      await writing
      return {
        value: `${exports - torn.length} of ${exports} (${seen.size} versions of ${world.versions})`,
        ok: torn.length === 0 && seen.size > exports / 4,
        note: torn.slice(0, 5).join('\n'),
      }
    } finally {
      await service.stop()
    }
  },
}

/** The end mark names the state as the ETag does; what is before the number there, only the service can know. */
function withoutState(text: string, state: string): string {
  return text.replace(`"version":"${state}"}}\n`, '"version":"STATE"}}\n')
}

const sumOf = (text: string): string => createHash('sha1').update(text).digest('hex')

/** The products of acme as the check knows them, at every version. */
class World {
  readonly #url: string
  readonly #random: Random
  readonly #quantities: number[]
  readonly #sums = new Map<string, { readonly csv: string; readonly ndjson: string }>()
  #version = 0

  constructor(url: string, records: number, random: Random) {
    this.#url = url
    this.#random = random
    this.#quantities = Array.from({ length: records }, () => 0)
  }

  get versions(): number {
    return this.#sums.size
  }

  async begin(): Promise<void> {
    // 10,000 rows are a version each; only the last of these is ever exported.
    this.#version = Math.ceil(this.#quantities.length / 10_000) - 1
    await this.#import(this.#quantities.keys())
  }

  async write(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const changed = new Set(
        Array.from({ length: 300 }, () => this.#random.integer(0, this.#quantities.length - 1)),
      )
      for (const i of changed) this.#quantities[i] = (this.#quantities[i] ?? 0) + 1
      changed.add(this.#quantities.push(1) - 1)
      await this.#import(changed)
    }
  }

  sumOf(version: string, csv: boolean): string | undefined {
    return this.#sums.get(version)?.[csv ? 'csv' : 'ndjson']
  }

  async #import(places: Iterable<number>): Promise<void> {
    const records = Array.from(places, (i) => ({
      id: i + 1,
      name: `Product ${i + 1}`,
      qty_available: this.#quantities[i],
    }))
    // Known before it is written: an export may see it at once.
    this.#sums.set(String(this.#version + 1), this.#sum())
    await importRecords({ ownerUrl: this.#url, account: 'acme', resource: 'product', records })
    this.#version += 1
  }

  #sum(): { csv: string; ndjson: string } {
    const ndjson = this.#quantities.map((n, i) => `{"id":${i + 1},"qty_available":${n}}\n`).join('')
    const end = `{"$end":{"count":${this.#quantities.length},"version":"STATE"}}\n`
    const csv = this.#quantities.map((n, i) => `${i + 1},${n}\r\n`).join('')
    return { csv: sumOf(`\uFEFFid,qty_available\r\n${csv}`), ndjson: sumOf(ndjson + end) }
  }
}
