import { sendUncached } from '../respond.ts'
import { accountRoutes } from './account-routes.ts'
import { keyRoutes } from './key-routes.ts'
import { operatorDocument } from './openapi.ts'
import { operationRoutes } from './operation-routes.ts'
import { base, type OperatorRoute } from './operator-route.ts'

const documentRoute: OperatorRoute = {
  method: 'GET',
  path: `${base}/openapi.json`,
  scope: 'read',
  operationId: 'read_operator_openapi',
  summary: 'Read this document',
  success: { status: 200, description: 'An OpenAPI 3.1 document.', example: {} },
  errors: [],
  handler:
    () =>
    async ({ reply }) =>
      sendUncached(reply, JSON.stringify(operatorDocument(operatorRoutes))),
}

/** Every route of the operator API, in the order of its OpenAPI document. */
export const operatorRoutes: readonly OperatorRoute[] = [
  ...accountRoutes,
  ...keyRoutes,
  ...operationRoutes,
  documentRoute,
]
