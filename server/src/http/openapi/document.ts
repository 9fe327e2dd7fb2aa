import { scopes } from '../../accounts/key-format.ts'
import { resources } from '../../catalog/resources.ts'
import { views } from '../../catalog/views.ts'
import { introduction } from './introduction.ts'
import { managePaths, manageSchemas } from './manage-paths.ts'
import { headers, parameters, responses } from './parts.ts'
import { healthPaths, resourcePaths } from './paths.ts'
import { envelopeSchemas, problemSchemas, recordSchema } from './schemas.ts'

const all = Object.values(resources)

/** The OpenAPI 3.1 document of the service, made from the catalog: a field added there appears here. */
export const openApi = {
  openapi: '3.1.0',
  info: {
    title: 'Quartermaster',
    version: '1.0.0',
    summary: 'Products, partners and companies of an account, listed exactly.',
    description: introduction(),
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [
    // Relative to the address of this document, so it is right in every deployment, the demo included.
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
    ...all.map((resource) => ({ name: resource.name, description: resource.description })),
    {
      name: 'manage',
      description: 'What the administrator of an account does, by a key with the scope `account:manage`.',
    },
    { name: 'health', description: 'Whether a process runs and can answer. No key is needed.' },
  ],
  paths: {
    ...Object.fromEntries(all.flatMap((resource) => Object.entries(resourcePaths(resource)))),
    ...managePaths,
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
    parameters,
    headers,
    responses,
    schemas: {
      ...Object.fromEntries(all.map((resource) => [resource.name, recordSchema(resource)])),
      ...Object.fromEntries(Object.values(views).map((view) => [view.name, recordSchema(view)])),
      ...manageSchemas,
      ...envelopeSchemas,
      ...problemSchemas,
    },
  },
}
