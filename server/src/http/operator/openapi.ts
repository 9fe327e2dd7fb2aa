import { operatorScopes } from '../../accounts/operators/tokens.ts'
import { json } from '../openapi/parts.ts'
import { bodySchema, problemSchemas, ref } from '../openapi/schemas.ts'
import type { OperatorRoute } from './operator-route.ts'

/** The OpenAPI 3.1 document of the operator API. The one of the public API says nothing about it. */
export function operatorDocument(routes: readonly OperatorRoute[]) {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quartermaster operator API',
      version: '1.0.0',
      summary: 'Creates, changes and deletes accounts.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The port of `quartermaster operator serve`' }],
    security: [{ operatorToken: [] }],
    paths,
    components: {
      securitySchemes: {
        operatorToken: {
          type: 'http',
          scheme: 'bearer',
          description: `\`Authorization: Bearer qm_op…\`. Scopes: ${operatorScopes.join(', ')}.`,
        },
      },
      schemas: {
        ...problemSchemas,
        ...Object.fromEntries(
          routes.flatMap(({ body }) =>
            body === undefined ? [] : [[body.name, bodySchema(body.title, body.members, body.required)]],
          ),
        ),
      },
    },
  }
}

const errorTexts = {
  400: 'The request is invalid. `errors` says what is wrong.',
  401: 'No valid operator token.',
  403: 'The token lacks the scope.',
  404: 'No account, key or deletion has this name or id.',
  409: 'The account is in a state that does not allow it. `code` says why.',
  500: 'The service failed.',
  503: 'The database is unavailable. Retry after `Retry-After` seconds.',
} as const

function operationOf(route: OperatorRoute): object {
  const { operationId, summary, description, scope, query = {}, body, success, errors } = route
  const needs = `Needs the scope \`${scope}\`.`
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const inQuery = Object.entries(query).map(([name, of]) => ({ name, in: 'query', ...of }))
  const problem = { 'application/problem+json': { schema: ref('schemas', 'Problem') } }
  const failures = ([400, 401, 403, ...errors, 500, 503] as const).map((status) => [
    status,
    { description: errorTexts[status], content: problem },
  ])
  return {
    operationId,
    summary,
    description: description === undefined ? needs : `${needs} ${description}`,
    parameters: [...inPath, ...inQuery],
    ...(body === undefined
      ? {}
      : {
          requestBody: { required: true, content: json(ref('schemas', body.name), JSON.parse(body.example)) },
        }),
    responses: {
      [success.status]: {
        description: success.description,
        content: json({ type: 'object' }, success.example),
      },
      ...(route.method === 'PUT'
        ? {
            201: {
              description: 'The account was created.',
              content: json({ type: 'object' }, success.example),
            },
          }
        : {}),
      ...Object.fromEntries(failures),
    },
  }
}
