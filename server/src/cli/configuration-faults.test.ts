import { expect, it } from 'vitest'
import { readConfig } from '../config/config.ts'
import { configurationFaults } from './configuration-faults.ts'

const faults = (environment: Record<string, string>) =>
  configurationFaults(readConfig(environment)).map(({ variable }) => variable)

it.each([
  [{ OTEL_RESOURCE_ATTRIBUTES: 'a=b,c' }, ['OTEL_RESOURCE_ATTRIBUTES']],
  [{ OTEL_RESOURCE_ATTRIBUTES: 'a=b, =c' }, ['OTEL_RESOURCE_ATTRIBUTES']],
  [{ OTEL_RESOURCE_ATTRIBUTES: 'a=b,,c=d,' }, []],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'Bearer zztokenzz' }, ['OTEL_EXPORTER_OTLP_HEADERS']],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic dXNlcjpwYXNz==' }, []],
  [{ OTEL_METRICS_EXPORTER: 'prometheus' }, ['OTEL_METRICS_EXPORTER']],
  [{ OTEL_METRICS_EXPORTER: 'prometheus', QUARTERMASTER_ADMIN_PORT: '0' }, []],
  [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://:1' }, ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT']],
  [
    {
      QUARTERMASTER_TRUSTED_PROXIES: '10.0.0.0/8, ::1/128,10.0.0.1/33,x',
      QUARTERMASTER_WEBHOOK_NETWORKS: 'y',
    },
    ['QUARTERMASTER_TRUSTED_PROXIES', 'QUARTERMASTER_TRUSTED_PROXIES', 'QUARTERMASTER_WEBHOOK_NETWORKS'],
  ],
])('faults of %j', (environment, expected) => {
  expect(faults(environment)).toEqual(expected)
})
