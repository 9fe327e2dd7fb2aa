import { gzipSync } from 'node:zlib'
import type { BodyType } from '../../../../server/src/http/request/body.ts'
import { limits } from '../../../../server/src/limits/limits.ts'
import { jsonShapes } from './bodies/json.ts'
import { csvBodyShapes, csvLineShapes, ndjsonBodyShapes, ndjsonLineShapes } from './bodies/lines.ts'
import type { BodyShape } from './bodies/shape.ts'
import { filters } from './filters.ts'
import { type Header, message, type Sender } from './message.ts'
import type { Route } from './route-table.ts'
import { membersOf, samplePath } from './samples.ts'

/** A body at its largest, for one route. */
export interface RouteBody {
  readonly name: string
  readonly type: BodyType
  message(sender: Sender): Buffer
}

/** A batch has no maximum: these bytes are many times what is parsed at once. The expanded bytes of a gzip body are limited. */
const streamBytes = 256 * 1024
const bombBytes = 2 * limits.batchFreeBytes

interface Sized {
  readonly shape: BodyShape
  readonly bytes: number
}

type Shapes = (route: Route) => readonly Sized[]

/** Bodies of each type: a type without an entry does not compile. */
const shapesOfType: Readonly<Record<BodyType, Shapes>> = {
  'application/json': (route) => sized(jsonShapes(membersOf(route)), route.bodyBytesMax),
  'application/merge-patch+json': (route) => sized(jsonShapes(membersOf(route)), route.bodyBytesMax),
  'application/x-ndjson': (route) => [
    ...sized(ndjsonLineShapes(membersOf(route)), limits.importLineBytesMax - 100),
    ...sized(ndjsonBodyShapes, streamBytes),
  ],
  'text/csv': () => [
    ...sized(csvLineShapes, limits.importLineBytesMax - 100),
    ...sized(csvBodyShapes, streamBytes),
  ],
  // Texts in a form are parts of a request; these are complete filters.
  'application/x-www-form-urlencoded': ({ bodyBytesMax }) =>
    Object.entries(filters).map(([name, filter]) => ({
      shape: { name, of: (bytes) => Buffer.from(`filter=${encodeURIComponent(filter)}`).subarray(0, bytes) },
      bytes: bodyBytesMax,
    })),
}

/** Every body of the route: each of its types in every shape, compressed as well if the route accepts that. */
export function routeBodies(route: Route): readonly RouteBody[] {
  const path = samplePath(route)
  if (path === undefined || !mayHaveBody(route)) return []
  return (route.bodies ?? []).flatMap((type) => {
    const all = shapesOfType[type](route)
    const plain = all.map((one) => bodyOf(route, path, type, one))
    if (!route.acceptsGzip) return plain
    const bombs = bombsOf(type)
    return [...plain, ...[...all, ...bombs].map((one) => bodyOf(route, path, type, one, 'gzip'))]
  })
}

/** A body for a route that accepts none. */
export function unwantedBodies(route: Route): readonly RouteBody[] {
  const path = samplePath(route)
  if (path === undefined || (route.bodies ?? []).length > 0) return []
  return sized(jsonShapes([]), route.bodyBytesMax).map((one) => bodyOf(route, path, 'application/json', one))
}

/** Fastify parses no body of GET and HEAD; that of DELETE is read and rejected. */
export function mayHaveBody({ method }: Route): boolean {
  return !['GET', 'HEAD', 'DELETE'].includes(method)
}

function sized(shapes: readonly BodyShape[], bytes: number): readonly Sized[] {
  return shapes.map((shape) => ({ shape, bytes }))
}

/** Much more than may be expanded. Not of valid rows: each is written, which takes as long as it takes. */
function bombsOf(type: BodyType): readonly Sized[] {
  return sized(
    (type === 'text/csv' ? csvBodyShapes : ndjsonBodyShapes).filter(({ name }) =>
      /^(blank|rejected|a line)/.test(name),
    ),
    bombBytes,
  ).map(({ shape, bytes }) => ({ shape: { ...shape, name: `a bomb of ${shape.name}` }, bytes }))
}

function bodyOf(
  { method, url }: Route,
  path: string,
  type: BodyType,
  { shape, bytes }: Sized,
  encoding?: 'gzip',
): RouteBody {
  return {
    name: `${method} ${url} as ${type}${encoding === undefined ? '' : ', gzip'}: ${shape.name}`,
    type,
    message: (sender) => {
      const body = shape.of(bytes)
      const headers: Header[] = [['Content-Type', type]]
      if (encoding === undefined) return message(method, path, sender, headers, body)
      return message(
        method,
        path,
        sender,
        [...headers, ['Content-Encoding', encoding]],
        gzipSync(body, { level: 1 }),
      )
    },
  }
}
