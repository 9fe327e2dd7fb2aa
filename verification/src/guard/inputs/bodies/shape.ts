/** A pattern for a body that could be expensive to parse. */
export interface BodyShape {
  readonly name: string
  /** A body of at most this number of bytes. */
  of(bytes: number): Buffer
}

/** A shape of a start, a unit that is repeated as often as it fits, and an end. */
export function filled(name: string, start: string, unit: string, end: string): BodyShape {
  return {
    name,
    of: (bytes) => {
      const rest = bytes - Buffer.byteLength(start) - Buffer.byteLength(end)
      return Buffer.from(start + unit.repeat(Math.max(0, Math.floor(rest / Buffer.byteLength(unit)))) + end)
    },
  }
}

/** A shape whose units differ, as names do. */
export function numbered(name: string, start: string, unit: (n: number) => string, end: string): BodyShape {
  return {
    name,
    of: (bytes) => {
      const parts = [start]
      for (let [n, size] = [0, start.length + end.length]; ; n++) {
        const part = unit(n)
        size += Buffer.byteLength(part)
        if (size > bytes) break
        parts.push(part)
      }
      return Buffer.from(parts.join('') + end)
    },
  }
}

/** Opened and closed again, as deep as it fits. */
export function nested(
  name: string,
  start: string,
  open: string,
  inmost: string,
  close: string,
  end: string,
): BodyShape {
  return {
    name,
    of: (bytes) => {
      const rest = bytes - start.length - inmost.length - end.length
      const depth = Math.floor(rest / (open.length + close.length))
      return Buffer.from(start + open.repeat(depth) + inmost + close.repeat(depth) + end)
    },
  }
}

/** Bytes that are not UTF-8, so that no text can describe them. */
export function ofBytes(name: string, start: string, byte: number, end: string): BodyShape {
  return {
    name,
    of: (bytes) =>
      Buffer.concat([
        Buffer.from(start),
        Buffer.alloc(bytes - start.length - end.length, byte),
        Buffer.from(end),
      ]),
  }
}
