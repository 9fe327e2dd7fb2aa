import { createHash } from 'node:crypto'
import { importRecords } from '../../../server/src/import/import-records.ts'
import type { Check } from '../check.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { openList } from './export-fixture.ts'

/**
 * A writer repeatedly changes 300 quantities and adds a record, each time as one version, while exports run. Each export must
 * equal, byte for byte, the expected content of the version that it names.
 */
export const exportConsistent: Check = {
  name: 'export_consistent',
  bound: '= all of one version',
  async run(context) {
    const service = await Service.start()
    try {
      const key = await service.account('acme')
      const server = await service.serve()
      const products = new Products(
        service.postgres.url,
        context.size(200_000, 20_000),
        new Random(context.seed),
      )
      await products.begin()
      const stop = new AbortController()
      const writing = products.write(stop.signal)
      const least = context.size(60, 12)
      const seen = new Set<string>()
      const torn: string[] = []
      let exports = 0
      // On a busy machine the writer may be slow: exports of one and the same version would show nothing.
      while (exports < least || (seen.size <= least / 4 && exports < least * 20)) {
        const csv = ++exports % 2 === 0
        const accept = csv ? 'text/csv' : 'application/x-ndjson'
        const response = await openList(server.port, 'acme', key, '?fields=id,qty_available', { accept })
        const [, state = '', version = ''] = /^W\/"([0-9a-f]+-(\d+))-/.exec(response.headers.etag ?? '') ?? []
        let text = ''
        for await (const chunk of response.setEncoding('utf8')) text += String(chunk)
        seen.add(version)
        if (checksumOf(csv ? text : withoutState(text, state)) !== products.checksumOf(version, csv))
          torn.push(`${accept} at version ${version}`)
      }
      stop.abort()
      await writing
      return {
        value: `${exports - torn.length} of ${exports} (${seen.size} versions of ${products.versions})`,
        samples: Math.min(exports, seen.size),
        ok: torn.length === 0 && seen.size > least / 4,
        note: torn.slice(0, 5).join('\n'),
      }
    } finally {
      await service.stop()
    }
  },
}

/** The version in the last line has a prefix that cannot be predicted, so it is replaced by a constant. */
function withoutState(text: string, state: string): string {
  return text.replace(`"version":"${state}"}}\n`, '"version":"STATE"}}\n')
}

const checksumOf = (text: string): string => createHash('sha1').update(text).digest('hex')

/** The expected products of acme, with a checksum of every version. */
class Products {
  readonly #url: string
  readonly #random: Random
  readonly #quantities: number[]
  readonly #checksums = new Map<string, { readonly csv: string; readonly ndjson: string }>()
  #version = 0

  constructor(url: string, records: number, random: Random) {
    this.#url = url
    this.#random = random
    this.#quantities = Array.from({ length: records }, () => 0)
  }

  get versions(): number {
    return this.#checksums.size
  }

  async begin(): Promise<void> {
    // The first import writes a version per 10,000 rows; only the last of them is ever exported.
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

  checksumOf(version: string, csv: boolean): string | undefined {
    return this.#checksums.get(version)?.[csv ? 'csv' : 'ndjson']
  }

  async #import(indexes: Iterable<number>): Promise<void> {
    const records = Array.from(indexes, (i) => ({
      id: i + 1,
      name: `Product ${i + 1}`,
      qty_available: this.#quantities[i],
    }))
    // Before the import, because an export may read the new version at once.
    this.#checksums.set(String(this.#version + 1), this.#checksum())
    await importRecords({ ownerUrl: this.#url, account: 'acme', resource: 'product', records })
    this.#version += 1
  }

  #checksum(): { csv: string; ndjson: string } {
    const ndjson = this.#quantities.map((n, i) => `{"id":${i + 1},"qty_available":${n}}\n`).join('')
    const end = `{"$end":{"count":${this.#quantities.length},"version":"STATE"}}\n`
    const csv = this.#quantities.map((n, i) => `${i + 1},${n}\r\n`).join('')
    return { csv: checksumOf(`\uFEFFid,qty_available\r\n${csv}`), ndjson: checksumOf(ndjson + end) }
  }
}
