import { Readable } from 'node:stream'
import type pg from 'pg'
import { parse } from 'pg-protocol'
import { limits } from '../limits/limits.ts'

declare module 'pg' {
  interface Connection {
    /** Called when the connection is open. Reads messages from the stream and emits each as an event. */
    attachListeners: (stream: NodeJS.ReadableStream) => void
  }
}

/**
 * Makes a connection return the fields of long rows as bytes. A page of records is JSON text that is sent as it is: to decode
 * and encode it takes longer than everything else that the process does for it, above all if it is not ASCII.
 */
export function keepLongRows({ connection }: pg.Client): void {
  const emit = (message: {
    readonly name: string
    readonly fields?: unknown
    readonly fieldCount?: number
  }) => connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message)
  connection.attachListeners = (stream) => {
    // `pg` reads all other messages, as it does without this function.
    const others = new Readable({ read: () => {} })
    void parse(others, emit)
    const splitter = new LongRowSplitter(
      (bytes) => others.emit('data', bytes),
      (fields) => emit({ name: 'dataRow', fields, fieldCount: fields.length }),
    )
    stream.on('data', (chunk: Buffer) => splitter.add(chunk))
  }
}

const codeOfRow = 'D'.charCodeAt(0)
/** The code of a message, and its length without the code. */
const headerBytes = 5

/** Separates long rows from the other messages of PostgreSQL's protocol. */
export class LongRowSplitter {
  readonly #onOther: (bytes: Buffer) => void
  readonly #onRow: (fields: (Buffer | null)[]) => void
  /** The start of a header that continues in the next chunk. */
  #header: Buffer | undefined
  /** Bytes of the current message that are still to come, if it is not a long row. */
  #otherLeft = 0
  #row: Buffer | undefined
  #rowFilled = 0

  constructor(onOther: (bytes: Buffer) => void, onRow: (fields: (Buffer | null)[]) => void) {
    this.#onOther = onOther
    this.#onRow = onRow
  }

  add(chunk: Buffer): void {
    const bytes = this.#header === undefined ? chunk : Buffer.concat([this.#header, chunk])
    this.#header = undefined
    /** The start of messages that have not been passed on. */
    let start = 0
    let at = 0
    while (at < bytes.length) {
      if (this.#row !== undefined) {
        at += this.#fill(this.#row, bytes, at)
        start = at
      } else if (this.#otherLeft > 0) {
        const length = Math.min(this.#otherLeft, bytes.length - at)
        this.#otherLeft -= length
        at += length
      } else if (bytes.length - at < headerBytes) {
        this.#header = bytes.subarray(at)
        break
      } else {
        const length = bytes.readInt32BE(at + 1)
        if (bytes[at] === codeOfRow && length >= limits.longRowBytesMin) {
          if (at > start) this.#onOther(bytes.subarray(start, at))
          this.#row = Buffer.allocUnsafe(length - 4)
          this.#rowFilled = 0
          at += headerBytes
        } else {
          this.#otherLeft = length + 1
        }
      }
    }
    if (this.#row === undefined && at > start) this.#onOther(bytes.subarray(start, at))
  }

  /** Returns the number of bytes that belong to the row. */
  #fill(row: Buffer, bytes: Buffer, at: number): number {
    const copied = bytes.copy(row, this.#rowFilled, at)
    this.#rowFilled += copied
    if (this.#rowFilled === row.length) {
      this.#row = undefined
      this.#onRow(fieldsOf(row))
    }
    return copied
  }
}

function fieldsOf(row: Buffer): (Buffer | null)[] {
  const fields: (Buffer | null)[] = []
  const count = row.readInt16BE(0)
  let at = 2
  for (let i = 0; i < count; i++) {
    const length = row.readInt32BE(at)
    at += 4
    fields.push(length < 0 ? null : row.subarray(at, at + length))
    at += Math.max(0, length)
  }
  return fields
}
