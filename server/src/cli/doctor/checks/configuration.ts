import { isIP } from 'node:net'
import type { Config } from '../../../config.ts'
import { unreadableUrls } from '../../database/invalid-urls.ts'
import { findOwnerUrl } from '../../database/owner.ts'
import { type Finding, ok, problem } from '../finding.ts'
import { conclude, printFinding } from '../print-findings.ts'

/** What of the configuration can be judged without the database. */
export function checkConfiguration(config: Config): Finding[] {
  const faults = [
    ...(findOwnerUrl(config) === undefined ? [noDatabase] : []),
    ...unreadableUrls(config).map(({ message, repair }) => problem('configuration', message, repair)),
    ...(config.TRUSTED_PROXIES ?? '')
      .split(',')
      .map((network) => network.trim())
      .filter((network) => network !== '' && isIP(network.replace(/\/\d{1,3}$/, '')) === 0)
      .map((network) =>
        problem(
          'configuration',
          `TRUSTED_PROXIES has ${JSON.stringify(network)}, which is no address or network.`,
          'Set TRUSTED_PROXIES to addresses or networks, such as 10.0.0.0/8,192.168.1.7.',
        ),
      ),
  ]
  return faults.length > 0 ? faults : [ok('configuration', 'The configuration can be read.')]
}

/** A configuration that its schema refuses is itself what doctor finds. Returns the exit code. */
export function doctorWithoutConfiguration(error: unknown, json: boolean): number {
  const findings = configurationFaults(error).map(({ variable, message }) =>
    problem('configuration', message, `Set ${variable} to a value it can have, or unset it for its default.`),
  )
  if (!json) for (const finding of findings) printFinding(finding)
  return conclude(findings, json)
}

/** What a configuration error says of each variable, without its value: it may hold a password. */
export function configurationFaults(
  error: unknown,
): { readonly variable: string; readonly message: string }[] {
  const errors: unknown = error instanceof Error && 'errors' in error ? error.errors : undefined
  if (!Array.isArray(errors)) throw error
  return errors.map(
    (one: { instancePath: string; message: string; params: { allowedValues?: string[] } }) => {
      const variable = one.instancePath.slice(1)
      const allowed = one.params.allowedValues
      const beginning = beginnings[variable]
      if (beginning !== undefined)
        return { variable, message: `${variable} does not begin with ${beginning}.` }
      return { variable, message: `${variable} ${one.message}${allowed ? ` (${allowed.join(', ')})` : ''}.` }
    },
  )
}

const beginnings: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://',
  DATABASE_OWNER_URL: 'postgres://',
  REDIS_URL: 'redis:// or rediss://',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http:// or https://',
}

const noDatabase = problem(
  'configuration',
  'It is not said which database to use.',
  'export DATABASE_URL=postgres://quartermaster:PASSWORD@localhost:5432/quartermaster',
)
