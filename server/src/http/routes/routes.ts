import { type Resource, type ResourceName, resources } from '../../catalog/resources.ts'
import { views } from '../../catalog/views.ts'
import { adjustRoutes } from './adjust.ts'
import { batchRoute } from './batch.ts'
import { byKeyRoutes } from './by-key.ts'
import { deleteRoute, patchRoute } from './change.ts'
import { changesRoute } from './changes.ts'
import { changeCorsRoute, corsRoute } from './cors.ts'
import { createRoute } from './create.ts'
import { changeFieldRoute, createFieldRoute, deleteFieldRoute, fieldRoute } from './fields.ts'
import { livezRoute, readyzRoute } from './health.ts'
import { createKeyRoute, keyRoute, revokeKeyRoute, rotateKeyRoute } from './keys.ts'
import { listRoute } from './list.ts'
import { recordRoute } from './record.ts'
import type { Route } from './route.ts'
import { selfRoute } from './self.ts'
import { summaryRoute } from './summary.ts'
import { viewRoute } from './views.ts'
import {
  activateWebhookRoute,
  pauseWebhookRoute,
  replayWebhookRoute,
  rotateWebhookRoute,
  testWebhookRoute,
} from './webhook-actions.ts'
import { changeWebhookRoute, createWebhookRoute, deleteWebhookRoute, webhookRoute } from './webhooks.ts'

/** Every route of the API, in the order of the OpenAPI document. An account may have fields of its own. */
export const routesOf = (own: Readonly<Record<ResourceName, Resource>>): readonly Route[] => [
  ...Object.values(own).flatMap((resource) => [
    listRoute(resource),
    createRoute(resource),
    recordRoute(resource),
    patchRoute(resource),
    deleteRoute(resource),
    ...adjustRoutes(resource),
    ...byKeyRoutes(resource),
    summaryRoute(resource),
    batchRoute(resource),
    changesRoute(resource),
  ]),
  selfRoute,
  viewRoute(views.key, 'Administration'),
  createKeyRoute,
  keyRoute,
  rotateKeyRoute,
  revokeKeyRoute,
  viewRoute(views.audit, 'Administration'),
  viewRoute(views.request, 'Administration'),
  viewRoute(views.usage, 'Administration'),
  corsRoute,
  changeCorsRoute,
  viewRoute(views.field, 'Fields'),
  createFieldRoute,
  fieldRoute,
  changeFieldRoute,
  deleteFieldRoute,
  viewRoute(views.webhook, 'Webhooks'),
  createWebhookRoute,
  activateWebhookRoute,
  pauseWebhookRoute,
  rotateWebhookRoute,
  replayWebhookRoute,
  testWebhookRoute,
  webhookRoute,
  changeWebhookRoute,
  deleteWebhookRoute,
  viewRoute(views.delivery, 'Webhooks'),
  livezRoute,
  readyzRoute,
]

export const routes = routesOf(resources)
