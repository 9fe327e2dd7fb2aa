import { isIP } from 'node:net'
import type { Config } from '../../../config.ts'
import { invalidUrls } from '../../database/invalid-urls.ts'
import { findOwnerUrl } from '../../database/owner.ts'
import { type Finding, ok, problem } from '../finding.ts'
import { printFinding, summarize } from '../print-findings.ts'

/** Checks that need no connection to the database. */
export function checkConfiguration(config: Config): Finding[] {
  const faults = [
    ...(findOwnerUrl(config) === undefined ? [noDatabase] : []),
    ...invalidUrls(config).map(({ message, repair }) => problem('configuration', message, repair)),
    ...(config.QUARTERMASTER_TRUSTED_PROXIES ?? '')
      .split(',')
      .map((network) => network.trim())
      .filter((network) => network !== '' && isIP(network.replace(/\/\d{1,3}$/, '')) === 0)
      .map((network) =>
        problem(
          'configuration',
          `QUARTERMASTER_TRUSTED_PROXIES has ${JSON.stringify(network)}, which is not an IP address or network.`,
          'Set QUARTERMASTER_TRUSTED_PROXIES to IP addresses or networks, such as 10.0.0.0/8,192.168.1.7.',
        ),
      ),
  ]
  return faults.length > 0 ? faults : [ok('configuration', 'The configuration is valid.')]
}

/** Reports a configuration that does not match its schema. Returns the exit code. */
export function reportInvalidConfiguration(error: unknown, json: boolean): number {
  const findings = configurationFaults(error).map(({ variable, message }) =>
    problem('configuration', message, `Set ${variable} to a valid value, or unset it to use the default.`),
  )
  if (!json) for (const finding of findings) printFinding(finding)
  return summarize(findings, json)
}

/** A message for each invalid variable, without its value, which may contain a password. */
export function configurationFaults(
  error: unknown,
): { readonly variable: string; readonly message: string }[] {
  const errors: unknown = error instanceof Error && 'errors' in error ? error.errors : undefined
  if (!Array.isArray(errors)) throw error
  return errors.map(
    (fault: { instancePath: string; message: string; params: { allowedValues?: string[] } }) => {
      const variable = fault.instancePath.slice(1)
      const allowed = fault.params.allowedValues
      const prefix = prefixes[variable]
      if (prefix !== undefined) return { variable, message: `${variable} does not begin with ${prefix}.` }
      return {
        variable,
        message: `${variable} ${fault.message}${allowed ? ` (${allowed.join(', ')})` : ''}.`,
      }
    },
  )
}

const prefixes: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://',
  DATABASE_OWNER_URL: 'postgres://',
  REDIS_URL: 'redis:// or rediss://',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http:// or https://',
}

const noDatabase = problem(
  'configuration',
  'DATABASE_URL is not set.',
  'export DATABASE_URL=postgres://quartermaster:PASSWORD@localhost:5432/quartermaster',
)
