import { resourceFromAttributes } from '@opentelemetry/resources'
import { version } from '../version.ts'

/** Who metrics and traces are of. */
export const resource = resourceFromAttributes({
  'service.name': 'quartermaster',
  'service.version': version,
})
