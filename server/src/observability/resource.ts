import { resourceFromAttributes } from '@opentelemetry/resources'
import { version } from '../version.ts'

/** Identifies the service in metrics and traces. */
export const resource = resourceFromAttributes({
  'service.name': 'quartermaster',
  'service.version': version,
})
