import { randomUUID } from 'node:crypto'
import { parseKeyPairsIntoRecord } from '@opentelemetry/core'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { version } from '../version.ts'
import type { TelemetryIdentity } from './otlp.ts'

/** Distinguishes the processes of a service: a collector would otherwise mix up their counters. */
const instanceId = randomUUID()

/** Identifies the service and this process in metrics and traces. */
export function resourceOf({ serviceName, attributes, worker }: TelemetryIdentity): Resource {
  return resourceFromAttributes({
    'service.name': 'quartermaster',
    'service.version': version,
    'service.instance.id': instanceId,
    ...parseKeyPairsIntoRecord(attributes),
    ...(serviceName === undefined ? {} : { 'service.name': serviceName }),
    ...(worker === undefined ? {} : { worker }),
  })
}
