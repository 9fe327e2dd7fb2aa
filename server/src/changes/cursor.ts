import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type ResourceName, resources } from '../catalog/resources.ts'
import type { FaultCode } from '../errors/errors.ts'

/** A position in the feed of one account's resource. Records are in the order of (version, id). */
export interface FeedPosition {
  readonly lineage: bigint
  readonly version: bigint
  readonly id: bigint
  /**
   * The version at which the client began to read from the beginning. It has no record that was deleted up to this version,
   * so it needs no earlier deletions.
   */
  readonly base: bigint
}

/** For which feed a cursor is valid: a cursor of another one would silently miss changes. */
export interface FeedIdentity {
  readonly accountId: string
  readonly resource: ResourceName
  /** The filter in canonical form; empty without one. */
  readonly filterKey: string
}

/** After every id: the position (version, idMax) is the end of a version. */
export const idMax = 2n ** 63n - 1n

const format = 1
const resourceNames = Object.keys(resources)
const offsets = { format: 0, resource: 1, account: 2, filter: 8, lineage: 14, version: 22, id: 30, base: 38 }
const checksumAt = 46
const bytes = 50
const hashBytes = 6

/** An opaque text: format, resource, hashes of account and filter, the position, and a checksum, in base64url. */
export function encodeCursor(feed: FeedIdentity, position: FeedPosition): string {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUInt8(format, offsets.format)
  buffer.writeUInt8(resourceNames.indexOf(feed.resource), offsets.resource)
  accountHash(feed).copy(buffer, offsets.account)
  filterHash(feed).copy(buffer, offsets.filter)
  for (const name of ['lineage', 'version', 'id', 'base'] as const)
    buffer.writeBigInt64BE(position[name], offsets[name])
  buffer.writeUInt32BE(crc32(buffer.subarray(0, checksumAt)), checksumAt)
  return buffer.toString('base64url')
}

export interface CursorFault {
  readonly code: Extract<FaultCode, 'cursor_invalid' | 'cursor_mismatch'>
  readonly message: string
}

/** Returns why the text is not a cursor of this feed, if it is not. A cursor grants no access: statements name the account. */
export function decodeCursor(feed: FeedIdentity, text: string): FeedPosition | CursorFault {
  const buffer = Buffer.from(text, 'base64url')
  // Node skips characters outside the alphabet, so only the encoded text shows that there were none.
  if (buffer.length !== bytes || buffer.toString('base64url') !== text)
    return { code: 'cursor_invalid', message: 'is not a cursor. Send one exactly as you received it.' }
  if (crc32(buffer.subarray(0, checksumAt)) !== buffer.readUInt32BE(checksumAt))
    return { code: 'cursor_invalid', message: 'is a damaged cursor. Send it exactly as you received it.' }
  if (buffer.readUInt8(offsets.format) !== format)
    return { code: 'cursor_invalid', message: 'is a cursor of another version of the service.' }
  return mismatchOf(feed, buffer) ?? positionIn(buffer)
}

function mismatchOf(feed: FeedIdentity, buffer: Buffer): CursorFault | undefined {
  const mismatch = (message: string): CursorFault => ({ code: 'cursor_mismatch', message })
  const resource = resourceNames[buffer.readUInt8(offsets.resource)] ?? 'another resource'
  if (resource !== feed.resource)
    return mismatch(`is a cursor of the resource ${resource}, not of ${feed.resource}.`)
  if (!isAt(buffer, offsets.account, accountHash(feed))) return mismatch('is a cursor of another account.')
  if (!isAt(buffer, offsets.filter, filterHash(feed)))
    return mismatch(
      'belongs to another filter. Send the same filter as before, or start again without since.',
    )
  return undefined
}

function positionIn(buffer: Buffer): FeedPosition {
  const read = (name: 'lineage' | 'version' | 'id' | 'base') => buffer.readBigInt64BE(offsets[name])
  return { lineage: read('lineage'), version: read('version'), id: read('id'), base: read('base') }
}

function isAt(buffer: Buffer, offset: number, expected: Buffer): boolean {
  return buffer.subarray(offset, offset + hashBytes).equals(expected)
}

/** Hashed, because the id would reveal the number of accounts to anybody who decodes the cursor. */
function accountHash({ accountId }: FeedIdentity): Buffer {
  return hashOf(`account ${accountId}`)
}

function filterHash({ filterKey }: FeedIdentity): Buffer {
  return filterKey === '' ? Buffer.alloc(hashBytes) : hashOf(`filter ${filterKey}`)
}

function hashOf(text: string): Buffer {
  return hash('sha256', text, 'buffer').subarray(0, hashBytes)
}
