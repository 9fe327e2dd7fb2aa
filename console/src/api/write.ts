import { type Read, recorded } from './exchange.ts'
import { asSent, clientWith, type ResourceName, type Row, resourceOf } from './read.ts'

/** Changes of records, with the TypeScript client: it repeats a request whose response was lost, without writing twice. */

/** Throws RequestFailed with the code `precondition_failed` if the record is no longer the one with this ETag. */
export async function changeRecord(
  name: ResourceName,
  id: string,
  patch: Row,
  etag: string | undefined,
): Promise<Read<Row>> {
  return await recorded(
    async (fetch) => await resourceOf(clientWith(fetch), name).update(asSent(id), patch, { ifMatch: etag }),
  )
}

/** One record for one key, however often it is sent. */
export async function createRecord(
  name: ResourceName,
  record: Row,
  idempotencyKey: string,
): Promise<Read<{ readonly id: number }>> {
  return await recorded(
    async (fetch) => await resourceOf(clientWith(fetch), name).create(record, { idempotencyKey }),
  )
}

export async function deleteRecord(name: ResourceName, id: string, etag: string | undefined): Promise<void> {
  await recorded(
    async (fetch) => await resourceOf(clientWith(fetch), name).delete(asSent(id), { ifMatch: etag }),
  )
}
