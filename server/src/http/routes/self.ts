import { scopes } from '../../accounts/key-format.ts'
import { type OwnKeyRow, ownKeyStatement } from '../../accounts/own-key.ts'
import { views } from '../../catalog/views.ts'
import { unauthenticated } from '../../errors/errors.ts'
import { jsonResponse, respondsWith } from '../openapi/parts.ts'
import { curl } from '../openapi/samples.ts'
import { propertiesOf, ref, responseSchema } from '../openapi/schemas.ts'
import { contextOf, timed } from '../plugins/request-context.ts'
import { sendUncached } from '../respond.ts'
import { administrationOf } from './administration.ts'
import { type Route, readMethods } from './route.ts'

/** What a key may know of itself, so that a program need not find out its scopes by requests that are rejected. */

const path = '/manage/v1/self'
const shown = ['key_id', 'name', 'scopes', 'state', 'created_at', 'expires_at']
const fields = views.key.fields.filter(({ name }) => shown.includes(name))
const example = {
  account: 'acme',
  ...Object.fromEntries(fields.map((field) => [field.name, field.example])),
}

export const selfRoute: Route = {
  methods: readMethods,
  path,
  scopes,
  operation: {
    operationId: 'get_self',
    tag: 'Administration',
    summary: "Get the request's key",
    samples: [curl('', path)],
    responses: {
      '200': jsonResponse("The request's key and its account.", 'SelfResponse', { data: example }),
      ...respondsWith('invalid'),
    },
    schemas: {
      Self: {
        title: 'Own key',
        type: 'object',
        required: ['account', ...shown],
        properties: {
          account: { type: 'string', description: "The account's name.", examples: [example.account] },
          ...propertiesOf(fields),
        },
        additionalProperties: false,
      },
      SelfResponse: responseSchema('Self response', ref('schemas', 'Self')),
    },
  },
  handler: (parts) => async (request, reply) => {
    const { access } = administrationOf(request, reply, parts)
    const database = parts.database.nodeOf(access)
    const [row] = await timed(request, () => database.read<OwnKeyRow>(ownKeyStatement(access)))
    // It was deleted after it was verified.
    if (row === undefined) throw unauthenticated()
    contextOf(request).records = 1
    return sendUncached(reply, `{"data":${row.self}}`)
  },
}
