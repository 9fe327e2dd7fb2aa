import type { Position } from './tally-state.ts'

/**
 * The ETag of one record: its version, the lineage of that version, and a hash of its id and of the fields that the response
 * has. It changes only when this record changes, or when a failover or restore begins a new lineage.
 */
export function recordEtag({ version, lineage }: Position, id: string, fieldsHash: string): string {
  return `"${version}-${BigInt.asUintN(64, BigInt(lineage)).toString(16).padStart(16, '0')}-${id}-${fieldsHash}"`
}

/** The position of a record's ETag, strong or weak; undefined if it is not an ETag of the record with this id. */
export function positionOfEtag(etag: string, id: string): Position | undefined {
  const [, version, lineage, etagId] =
    /^(?:W\/)?"([1-9]\d{0,18}|0)-([0-9a-f]{16})-([1-9]\d{0,15})-[\w-]{16}"$/.exec(etag) ?? []
  if (version === undefined || lineage === undefined || etagId !== id) return undefined
  return { version, lineage: BigInt.asIntN(64, BigInt(`0x${lineage}`)).toString() }
}
