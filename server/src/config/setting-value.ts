/** What the text of a setting may be. Without a default, the setting is optional. */
export type SettingRule =
  | {
      readonly type: 'string'
      readonly pattern?: RegExp
      readonly minLength?: number
      readonly default?: string
    }
  | { readonly enum: readonly string[]; readonly default?: string }
  | {
      readonly type: 'integer' | 'number'
      readonly minimum: number
      readonly maximum: number
      readonly default?: number
    }

export class InvalidSetting extends Error {}

/**
 * The value of a text, or `InvalidSetting` with what is wrong. A JSON Schema validator would do the same, but Ajv takes half of
 * the time in which a command starts (ADR 0018).
 */
export function settingValue(text: string, rule: SettingRule): string | number {
  if ('enum' in rule) {
    if (rule.enum.includes(text)) return text
    throw new InvalidSetting(`must be equal to one of the allowed values (${rule.enum.join(', ')})`)
  }
  if (rule.type === 'string') {
    const { pattern, minLength = 0 } = rule
    if (text.length < minLength) throw new InvalidSetting(`must have at least ${minLength} characters`)
    if (pattern?.test(text) === false) throw new InvalidSetting(`must match pattern "${pattern.source}"`)
    return text
  }
  return numberValue(text, rule)
}

interface NumberRule {
  readonly type: 'integer' | 'number'
  readonly minimum: number
  readonly maximum: number
}

function numberValue(text: string, { type, minimum, maximum }: NumberRule): number {
  const value = Number(text)
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(text) && (type === 'number' || Number.isSafeInteger(value))
  if (!isNumber) throw new InvalidSetting(`must be ${type}`)
  if (value < minimum) throw new InvalidSetting(`must be >= ${minimum}`)
  if (value > maximum) throw new InvalidSetting(`must be <= ${maximum}`)
  return value
}
