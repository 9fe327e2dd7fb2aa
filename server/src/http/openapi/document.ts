import { scopes } from '../../accounts/key-format.ts'
import { resources } from '../../catalog/resources.ts'
import { views } from '../../catalog/views.ts'
import { changesMetaSchema, changesParameters, changesPaths, changesSchemas } from './changes-paths.ts'
import { introduction } from './introduction.ts'
import { managePaths, manageSchemas } from './manage-paths.ts'
import { headers, parameters, responses } from './parts.ts'
import { healthPaths, resourceTag } from './paths.ts'
import { resourcePaths } from './resource-paths.ts'
import { collectionSchemas, envelopeSchemas, problemSchemas, singleSchemas } from './schemas.ts'
import { webhookPaths, webhookSchemas } from './webhook-paths.ts'
import { writeSchemas } from './write-paths.ts'

const all = Object.values(resources)

/** The OpenAPI 3.1 document, generated from the catalog: a field added there appears here. */
export const openApi = {
  openapi: '3.1.0',
  info: {
    title: 'Quartermaster',
    version: '1.0.0',
    summary: 'Lists and changes the products, partners and companies of an account, with exact totals.',
    description: introduction(),
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [
    // Relative to the URL of this document, so that it is correct in every deployment.
    { url: '/', description: 'The host that serves this document' },
    {
      url: 'https://{account}.{domain}',
      description: 'The host of one account',
      variables: {
        account: { default: 'acme', description: 'The name of the account' },
        domain: { default: 'erp.example.com', description: 'The service domain of the deployment' },
      },
    },
  ],
  security: [{ apiKey: [] }],
  tags: [
    ...all.map((resource) => ({ name: resourceTag(resource), description: resource.description })),
    {
      name: 'Administration',
      description: 'For administrators of an account. Needs a key with the scope `account:manage`.',
    },
    {
      name: 'Webhooks',
      description:
        'Changes are sent to the URLs of receivers, signed by Standard Webhooks. Needs a key with the scope `account:manage`.',
    },
    { name: 'Health', description: 'Health checks of a process. They need no key.' },
  ],
  paths: {
    ...Object.assign({}, ...all.flatMap((resource) => [resourcePaths(resource), changesPaths(resource)])),
    ...managePaths,
    ...webhookPaths,
    ...healthPaths,
  },
  components: {
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description: `\`Authorization: Bearer qm_…\`, on the host of the key's own account. Scopes: ${scopes.join(', ')}.`,
      },
    },
    parameters: { ...parameters, ...changesParameters },
    headers,
    responses,
    schemas: {
      ...Object.assign(
        {},
        ...all.flatMap((resource) => [
          collectionSchemas(resource),
          singleSchemas(resource),
          changesSchemas(resource),
        ]),
      ),
      ...Object.assign({}, ...Object.values(views).map(collectionSchemas)),
      ...singleSchemas(views.key),
      ...writeSchemas,
      ...manageSchemas,
      ...singleSchemas(views.webhook),
      ...webhookSchemas,
      ...envelopeSchemas,
      ...changesMetaSchema,
      ...problemSchemas,
    },
  },
}
