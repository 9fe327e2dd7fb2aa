import type { Verified } from '../accounts/key-verifier.ts'
import type { Field } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import type { Database } from '../postgres/database.ts'
import { failingOver } from '../postgres/sqlstate.ts'
import { type RecordRow, recordStatement } from '../query/sql/record-statement.ts'
import { recordEtag } from '../record-etag.ts'
import { isOlder, type Tally } from '../tally-state.ts'
import { type ReadResponse, responseOf } from './response.ts'

/** One record; undefined if no record has this id. */
export async function readRecord(
  database: Database,
  { access, tally }: Verified & { readonly tally: Tally },
  resource: Resource,
  fields: readonly Field[],
  id: string,
  fieldsHash: string,
): Promise<ReadResponse | undefined> {
  const [row] = await database.read<RecordRow>(recordStatement(access, resource, fields, id))
  if (row !== undefined && isOlder(row, tally)) throw failingOver()
  if (row === undefined || row.record === null || row.record_version === null) return undefined
  const etag = recordEtag({ version: row.record_version, lineage: row.lineage }, id, fieldsHash)
  return responseOf(row, etag, `{"data":${row.record}}`, undefined, 1)
}
