import { nearest } from '../errors/nearest.ts'
import type { ConfigFault } from './config-fault.ts'

const prefix = 'QUARTERMASTER_'

/** Used by the guides of the client and by deploy/compose.yaml. An operator may have set them in the same shell. */
const otherVariables = ['QUARTERMASTER_URL', 'QUARTERMASTER_KEY', 'QUARTERMASTER_IMAGE']

/**
 * Rejects variables with our prefix that are not settings: otherwise a misspelled setting would silently have its
 * default.
 */
export function unknownVariables(environment: NodeJS.ProcessEnv, names: readonly string[]): ConfigFault[] {
  const known = new Set([...names, ...otherVariables])
  return Object.entries(environment)
    .filter(([name, value]) => name.startsWith(prefix) && !known.has(name) && value !== '')
    .filter(([name, value = '']) => !isServiceLink(name, value))
    .map(([variable]) => {
      const similar = similarName(variable, names)
      return similar === undefined
        ? {
            variable,
            message: `${variable} is not a setting.`,
            repair: 'Unset it. `quartermaster config` lists all settings.',
          }
        : { variable, message: `${variable} is not a setting.`, repair: `Did you mean ${similar}?` }
    })
}

/**
 * Kubernetes sets such variables for every Service in the namespace whose name begins with `quartermaster`, for example
 * QUARTERMASTER_PORT=tcp://10.0.0.7:80.
 */
export function isServiceLink(name: string, value: string): boolean {
  return (
    /_SERVICE_(?:HOST|PORT)(?:_|$)/.test(name) ||
    /_PORT_\d+_(?:TCP|UDP|SCTP)(?:_|$)/.test(name) ||
    (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value))
  )
}

/** By edit distance; otherwise the setting that has all words of the variable, or only words of it, with the fewest differences. */
function similarName(variable: string, names: readonly string[]): string | undefined {
  const withoutPrefix = (name: string) => name.replace(prefix, '').toLowerCase()
  const lowered = new Map(names.map((name) => [withoutPrefix(name), name]))
  const close = nearest(withoutPrefix(variable), [...lowered.keys()])
  if (close !== undefined) return lowered.get(close)
  const words = wordsOf(variable)
  const differences = (name: string) => words.symmetricDifference(wordsOf(name)).size
  const [best] = names
    .filter((name) => words.isSubsetOf(wordsOf(name)) || words.isSupersetOf(wordsOf(name)))
    .toSorted((a, b) => differences(a) - differences(b))
  return best
}

function wordsOf(name: string): Set<string> {
  return new Set(name.replace(prefix, '').split('_'))
}
