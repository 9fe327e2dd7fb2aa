import type { Context } from '../../check.ts'
import { filters } from './filters.ts'
import type { Sender } from './message.ts'
import { filterParts, headerParts, otherParts, type RequestPart, urlParts } from './request-parts.ts'
import { mayHaveBody, routeBodies, unwantedBodies } from './route-bodies.ts'
import type { Route } from './route-table.ts'
import { samplePath } from './samples.ts'
import type { Senders } from './senders.ts'
import { shapes } from './texts.ts'

/** One hostile request. */
export interface Input {
  readonly name: string
  /** The route and type of body that it is for: at least one of them must reach its parser. */
  readonly reaches?: string
  /** Built when it is sent, because all messages together take gigabytes. */
  readonly message: () => Buffer
}

/** Why the route has no hostile inputs; undefined if it has. */
export function unshaped(route: Route): string | undefined {
  const { method, url, bodies } = route
  if (samplePath(route) === undefined)
    return `${method} ${url}: verification/src/guard/inputs/samples.ts has no value for its path`
  if (mayHaveBody(route) && bodies === undefined)
    return `${method} ${url}: its config does not say which bodies it accepts`
  const types = new Set(routeBodies(route).map(({ type }) => type))
  const missing = mayHaveBody(route) ? (bodies ?? []).filter((type) => !types.has(type)) : []
  return missing.length > 0 ? `${method} ${url}: no shapes for ${missing.join(', ')}` : undefined
}

/** A quick run uses a part of the shapes in each part of a request, different ones in the next part. */
export function inputsOf(
  context: Context,
  routes: readonly Route[],
  { large, small, anonymous }: Senders,
): Input[] {
  const some = <T>(all: readonly T[], every: number, at: number) =>
    all.filter((_, n) => (n + at) % every === 0)
  const texts = (parts: readonly RequestPart[], every: number, senders: readonly Sender[]) =>
    parts.flatMap((part, at) =>
      some(shapes, every, at).flatMap((shape) =>
        senders.map((sender) => inputOf(part, shape.name, () => shape.of(part.capacity), sender)),
      ),
    )
  return [
    // The bodies first: they can be the most expensive.
    ...routes.flatMap((route, at) => [
      ...some(routeBodies(route), context.size(1, 6), at).map(
        (body): Input => ({
          name: body.name,
          reaches: `${route.method} ${route.url} as ${body.type}`,
          message: () => body.message(large),
        }),
      ),
      ...some(unwantedBodies(route), context.size(1, 12), at).map(
        (body): Input => ({ name: `a body of ${body.name}`, message: () => body.message(large) }),
      ),
    ]),
    ...routes
      .flatMap(filterParts)
      .flatMap((part, at) =>
        some(Object.entries(filters), context.size(1, 26), at).flatMap(([what, filter]) =>
          [large, small].map((sender) => inputOf(part, what, () => filter, sender)),
        ),
      ),
    ...texts(otherParts, context.size(1, 12), [large, anonymous]),
    ...texts(routes.flatMap(urlParts), context.size(3, 180), [large]),
    // Only the query is read without a key.
    ...texts(
      routes.flatMap((route) => urlParts(route).filter(({ name }) => name.startsWith('the query'))),
      context.size(3, 180),
      [anonymous],
    ),
    ...texts(routes.flatMap(headerParts), context.size(16, 800), [large]),
  ]
}

function inputOf(part: RequestPart, shape: string, text: () => string, sender: Sender): Input {
  return { name: `${part.name}, ${sender.name}: ${shape}`, message: () => part.message(text(), sender) }
}
