/**
 * Positions of the change feed that this browser has seen, with their times. The feed knows versions and no times, so a position
 * is the only way to ask which records were deleted since then. A cursor grants no access: it is not secret.
 */
export interface Position {
  /** When the feed was at this cursor, as ISO time. */
  readonly at: string
  readonly cursor: string
}

const storageName = 'quartermaster.positions'
const hourMs = 60 * 60_000
/** The service keeps deletions for 30 days. */
const ageMsMax = 30 * 24 * hourMs
const positionsMax = 60

type Stored = Readonly<Record<string, readonly Position[]>>

/** The positions with one more, oldest first: at most one per hour, and none that has expired. */
export function withPosition(positions: readonly Position[], next: Position): readonly Position[] {
  const nextMs = Date.parse(next.at)
  const kept = positions.filter(({ at }) => nextMs - Date.parse(at) < ageMsMax)
  const last = kept.at(-1)
  if (last !== undefined && nextMs - Date.parse(last.at) < hourMs) return kept
  return [...kept, next].slice(-positionsMax)
}

/** The last position before the time; or the first one, if it is later: deletions before it are unknown. */
export function positionFor(positions: readonly Position[], since: string): Position | undefined {
  return positions.findLast(({ at }) => Date.parse(at) <= Date.parse(since)) ?? positions[0]
}

export function readPositions(resource: string): readonly Position[] {
  return stored()[resource] ?? []
}

export function addPosition(resource: string, position: Position): void {
  write(resource, withPosition(readPositions(resource), position))
}

/** After the service did not accept a cursor: it expired, or belongs to another account. */
export function forgetPositions(resource: string): void {
  write(resource, [])
}

function stored(): Stored {
  try {
    const parsed: Stored = JSON.parse(localStorage.getItem(storageName) ?? '{}')
    return parsed
  } catch {
    return {}
  }
}

function write(resource: string, positions: readonly Position[]): void {
  localStorage.setItem(storageName, JSON.stringify({ ...stored(), [resource]: positions }))
}
