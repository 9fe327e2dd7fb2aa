import { secretSettings } from '../../server/src/config/config.ts'
import { declarations } from '../../server/src/config/declarations.ts'
import type { SettingRule } from '../../server/src/config/setting-value.ts'
import { code, codes, table } from './markdown.ts'

/** The table of settings, from their declarations. */

type Declaration = SettingRule & { readonly meaning: string }

const defaultOf = ({ default: standard }: Declaration) =>
  standard === undefined ? '' : code(String(standard))

function rangeOf(rule: Declaration): string {
  if ('enum' in rule) {
    const missing = rule.enum.filter((value) => value !== rule.default && !rule.meaning.includes(code(value)))
    return missing.length === 0 ? '' : `: ${codes(rule.enum)}`
  }
  if (rule.type === 'string' || rule.maximum === 65_535) return ''
  return `; ${rule.minimum} to ${rule.maximum}`
}

export function settings(): string {
  const rows = Object.entries<Declaration>(declarations).map(([name, rule]) => [
    code(name),
    defaultOf(rule),
    rule.meaning + rangeOf(rule),
  ])
  return table(['Variable', 'Default', 'Meaning'], rows)
}

export const secretFiles = () => `${codes(secretSettings.map((name) => `${name}_FILE`))}.`
