import { setImmediate } from 'node:timers/promises'
import { accountNamed } from '../accounts/directory.ts'
import type { Resource, ResourceName } from '../catalog/resources.ts'
import { type DefinitionsRow, readDefinitions } from '../fields/definitions.ts'
import { withClient } from '../postgres/client.ts'
import type { WriteMode } from './id-rules.ts'
import { type ImportTotals, importRows, noTotals } from './import-rows.ts'
import { ChunkBuilder, type RowChunk } from './row.ts'

/** At about 10 µs per record, small enough not to delay the write of the previous batch. */
const chunkRecords = 500

/** Imports objects instead of a file. Decimals may be strings. An invalid record throws. */
export async function importRecords(options: {
  readonly ownerUrl: string
  readonly account: string
  readonly resource: ResourceName
  readonly records: Iterable<object> | AsyncIterable<object>
  readonly replace?: boolean
  /** Default: `load`. */
  readonly mode?: WriteMode
  /** Updated during the import, so that the caller can show progress. */
  readonly totals?: ImportTotals
}): Promise<ImportTotals> {
  const totals = options.totals ?? noTotals()
  await withClient(options.ownerUrl, async (client) => {
    const scope = await accountNamed(client, options.account)
    const { resource } = await readDefinitions(
      (statement) => client.read<DefinitionsRow>(statement),
      scope,
      options.resource,
    )
    await importRows({
      client,
      scope,
      resource,
      chunks: chunksOf(resource, options.records),
      replace: options.replace ?? false,
      mode: options.mode ?? 'load',
      totals,
      onFaults: ([fault]) => {
        if (fault === undefined) return
        throw new Error(`Record ${fault.line}: ${fault.field} ${fault.reason}: ${fault.value}`)
      },
    })
  })
  return totals
}

async function* chunksOf(
  resource: Resource,
  records: Iterable<object> | AsyncIterable<object>,
): AsyncGenerator<RowChunk> {
  let chunk = new ChunkBuilder(resource)
  let number = 0
  for await (const record of records) {
    number += 1
    chunk.addObject(number, record)
    if (number % chunkRecords !== 0) continue
    yield chunk
    await setImmediate()
    chunk = new ChunkBuilder(resource)
  }
  yield chunk
}
