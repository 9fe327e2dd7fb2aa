import { scopes as allScopes } from '../../accounts/key-format.ts'
import { type Resource, type ResourceName, resources } from '../../catalog/resources.ts'
import type { Route } from '../routes/route.ts'
import { routesOf } from '../routes/routes.ts'
import { headers } from './headers.ts'
import { introduction } from './introduction.ts'
import { parameters, resourceTag, respondsWith, responses } from './parts.ts'
import { envelopeSchemas, problemSchemas, ref } from './schemas.ts'
import { messageParameters, messageSchemas, webhooksOf } from './webhooks.ts'

/** Errors of every route that needs a key. */
const commonErrors = respondsWith('unauthenticated', 'forbidden', 'limited', 'failed', 'unavailable')

/** The OpenAPI 3.1 document, generated from the routes and the catalog: a route or field added there appears here. */
export const openApi = openApiOf(resources)

/** The document of an account that has declared fields of its own. */
export function openApiOf(own: Readonly<Record<ResourceName, Resource>>) {
  const routes = routesOf(own)
  const all = Object.values(own)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quartermaster',
      version: '1.0.0',
      summary: "Lists and changes an account's products, partners and companies, with exact totals.",
      description: introduction(),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Every deployment serves the documentation of its own version.
    externalDocs: docs('', 'Guides and reference of this deployment'),
    servers: [
      // Relative to the URL of this document, so that it is correct in every deployment.
      { url: '/', description: 'The host that serves this document' },
      {
        url: 'https://{account}.{domain}',
        description: 'The host of one account',
        variables: {
          account: { default: 'acme', description: "The account's name" },
          domain: { default: 'erp.example.com', description: "The deployment's service domain" },
        },
      },
    ],
    security: [{ apiKey: [] }],
    tags: tagsOf(all),
    paths: pathsOf(routes),
    webhooks: webhooksOf(all),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `\`Authorization: Bearer qm_…\`, on the host of the key's own account. Scopes: ${allScopes.join(', ')}.`,
        },
      },
      parameters: merged(
        parameters,
        messageParameters,
        ...routes.map(({ operation }) => operation.sharedParameters),
      ),
      headers,
      responses,
      schemas: merged(
        ...routes.map(({ operation }) => operation.schemas),
        messageSchemas(all),
        envelopeSchemas,
        problemSchemas,
      ),
    },
  }
}

function tagsOf(all: readonly Resource[]) {
  return [
    ...all.map((resource) => ({
      name: resourceTag(resource),
      description: resource.description,
      externalDocs: docs('guides/', 'Guides: copies, writes, changes'),
    })),
    {
      name: 'Administration',
      description: 'For account administrators. Needs a key with the scope `account:manage`.',
      externalDocs: docs('console.html', 'The console, which shows the same in a browser'),
    },
    {
      name: 'Fields',
      description:
        'Fields that an account declares for its records. Needs a key with the scope `account:manage`.',
      externalDocs: docs('guides/ids-and-keys.html', 'Which ids and keys?'),
    },
    {
      name: 'Webhooks',
      description:
        "Changes are sent to your receivers' URLs, signed by Standard Webhooks. Needs a key with the scope `account:manage`.",
      externalDocs: docs('guides/webhooks.html', 'Receiving webhooks'),
    },
    {
      name: 'Health',
      description: 'Health checks, which need no key.',
      externalDocs: docs('operating/processes.html', 'Processes and health checks'),
    },
  ]
}

/** A page of the documentation, relative to the URL of this document. */
function docs(page: string, description: string) {
  return { description, url: `/docs/${page}` }
}

function merged(...parts: readonly (object | undefined)[]): Record<string, object> {
  return Object.assign({}, ...parts)
}

function pathsOf(all: readonly Route[]): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of all) {
    const [method] = route.methods
    paths[route.path] = { ...paths[route.path], [method.toLowerCase()]: operationOf(route) }
  }
  return paths
}

function operationOf(route: Route): object {
  const { scopes, isPublic = false, operation } = route
  const { operationId, tag, summary, samples, description, extension, body } = operation
  const needs =
    scopes.length === allScopes.length
      ? 'Any valid key may use it.'
      : `Needs the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`
  return {
    operationId,
    tags: [tag],
    summary,
    'x-codeSamples': samples,
    ...(isPublic
      ? { security: [] }
      : { description: description === undefined ? needs : `${needs} ${description}` }),
    ...extension,
    ...(operation.parameters === undefined
      ? {}
      : {
          parameters: operation.parameters.map((one) =>
            typeof one === 'string' ? ref('parameters', one) : one,
          ),
        }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: body } }),
    responses: { ...(isPublic ? {} : commonErrors), ...typeErrors(route), ...operation.responses },
  }
}

function typeErrors({ methods: [method], bodies = [] }: Route): Record<string, object> {
  if (bodies.length === 0 || (method !== 'POST' && method !== 'PATCH')) return {}
  return respondsWith(method === 'POST' ? 'postUnsupported' : 'patchUnsupported')
}
