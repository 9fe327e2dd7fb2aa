import type { Resource } from '../../catalog/resources.ts'
import { batchPaths } from './batch-paths.ts'
import { listOperation, oneOperation, ref, resourceTag } from './paths.ts'
import { listSamples, oneSamples } from './samples.ts'
import { createOperation, deleteOperation, patchOperation } from './write-paths.ts'

export function resourcePaths(resource: Resource): Record<string, unknown> {
  const path = `/api/v1/${resource.path}`
  return {
    [path]: {
      get: listOperation(resource, {
        tag: resourceTag(resource),
        scope: `${resource.name}:read`,
        order: 'ordered by id',
        samples: listSamples(resource),
        isResource: true,
      }),
      post: createOperation(resource),
    },
    [`${path}/{id}`]: {
      get: oneOperation(resource, {
        tag: resourceTag(resource),
        scope: `${resource.name}:read`,
        id: ref('parameters', 'id'),
        samples: oneSamples(resource),
        isCached: true,
      }),
      patch: patchOperation(resource),
      delete: deleteOperation(resource),
    },
    ...batchPaths(resource),
  }
}
