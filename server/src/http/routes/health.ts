import { parseNoParameters } from '../../query/list-request.ts'
import { json, respondsWith } from '../openapi/parts.ts'
import { ref } from '../openapi/schemas.ts'
import { rawQueryOf } from '../plugins/request-context.ts'
import { type Handler, type Route, type RouteParts, readMethods } from './route.ts'

/** Health checks, without a key. */

export const livezRoute = healthRoute({
  name: 'livez',
  summary: 'Check liveness',
  success: 'The process is alive.',
  check: () => async () => ({ status: 'ok' }),
})

export const readyzRoute = healthRoute({
  name: 'readyz',
  summary: 'Check readiness',
  success: 'The process can serve requests.',
  check: ({ ready }) => ready,
})

interface Health {
  readonly name: string
  readonly summary: string
  readonly success: string
  readonly check: (parts: RouteParts) => () => Promise<unknown>
}

function healthRoute({ name, summary, success, check }: Health): Route {
  const schema = {
    type: 'object',
    required: ['status'],
    properties: { status: { type: 'string', const: 'ok' } },
  }
  return {
    methods: readMethods,
    path: `/${name}`,
    scopes: [],
    isPublic: true,
    operation: {
      operationId: name,
      tag: 'Health',
      summary,
      samples: [{ lang: 'Shell', label: 'curl', source: `curl --fail-with-body "$BASE_URL/${name}"` }],
      responses: {
        '200': {
          description: success,
          headers: { 'X-Request-Id': ref('headers', 'requestId') },
          content: json(schema, { status: 'ok' }),
        },
        ...respondsWith('unavailable'),
      },
    },
    handler: (parts): Handler => {
      const checked = check(parts)
      return async (request) => {
        parseNoParameters(rawQueryOf(request))
        return checked()
      }
    },
  }
}
