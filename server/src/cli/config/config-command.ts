import type { LoadedConfig, Setting } from '../../config/config.ts'
import { note, printJson, printTable } from '../print.ts'
import { mask, maskedValue } from './masked.ts'

/** Prints every setting with its origin, and all faults. Opens no connection. Returns the exit code. */
export function configCommand({ settings, faults }: LoadedConfig, options: { json?: boolean }): number {
  const invalid = new Set(faults.map(({ variable }) => variable.replace(/_FILE$/, '')))
  const rows = settings.map((setting) => ({
    name: setting.name,
    // The value of an invalid setting may be anything, for example a password that was meant for another one.
    value: invalid.has(setting.name) ? null : maskedValue(setting),
    origin: setting.origin,
    ...(setting.file === undefined ? {} : { file: shownPath(setting.file) }),
  }))
  if (options.json === true) {
    printJson({ ok: faults.length === 0, settings: rows, faults })
  } else {
    printTable(
      ['SETTING', 'VALUE', 'ORIGIN'],
      rows.map(({ name, value, origin, file }) => [
        name,
        invalid.has(name) ? '(invalid)' : textOf(value),
        file === undefined ? origin : `file ${file}`,
      ]),
    )
    for (const { message, repair } of faults) note(`✗ ${message}\n    repair: ${repair}`)
  }
  return faults.length === 0 ? 0 : 1
}

function textOf(value: ReturnType<typeof maskedValue>): string {
  if (value === null) return '(not set)'
  return value === '' ? '(empty)' : String(value)
}

/** A URL in place of the path is a fault, and may contain a password. */
function shownPath(path: NonNullable<Setting['file']>): string {
  return path.includes('://') ? mask : path
}
