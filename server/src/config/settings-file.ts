import { readFileSync } from 'node:fs'
import { limits } from '../limits/limits.ts'
import type { ConfigFault } from './config-fault.ts'

export const settingsFileVariable = 'QUARTERMASTER_SETTINGS_FILE'

export interface SettingsFile {
  readonly path: string | undefined
  readonly values: Readonly<Record<string, string>>
  readonly faults: readonly ConfigFault[]
}

/**
 * Reads the file with settings, if one is named: a line `NAME=value` for each, as in the environment files of systemd, Docker and Kubernetes.
 * Unlike the environment, a running process can read it again.
 */
export function readSettingsFile(environment: NodeJS.ProcessEnv): SettingsFile {
  const path = environment[settingsFileVariable] ?? ''
  if (path === '') return { path: undefined, values: {}, faults: [] }
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    const fault = faultOf(`names the file ${path}, which cannot be read${code}`)
    return { path, values: {}, faults: [fault] }
  }
  if (Buffer.byteLength(text) > limits.secretFileBytesMax)
    return {
      path,
      values: {},
      faults: [faultOf(`names the file ${path}, which is larger than ${limits.secretFileBytesMax} bytes`)],
    }
  return { path, ...parsed(text, path) }
}

function parsed(text: string, path: string): Pick<SettingsFile, 'values' | 'faults'> {
  const values: Record<string, string> = {}
  const faults: ConfigFault[] = []
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const at = line.indexOf('=')
    const [name, value] = [line.slice(0, at), line.slice(at + 1)]
    // The text is not quoted: it may be a password.
    const wrong = !/^[A-Z][A-Z0-9_]*$/.test(name)
      ? 'is not NAME=value'
      : name === settingsFileVariable
        ? 'names another file'
        : Object.hasOwn(values, name)
          ? 'sets a variable again'
          : /^["']/.test(value)
            ? 'has a quoted value: leave out the quotes'
            : undefined
    if (wrong === undefined) values[name] = value
    else faults.push(faultOf(`names the file ${path}, whose line ${index + 1} ${wrong}`))
  }
  return { values, faults }
}

function faultOf(problem: string): ConfigFault {
  return {
    variable: settingsFileVariable,
    message: `${settingsFileVariable} ${problem}.`,
    repair: 'Correct the file or the variable. Each line of the file is NAME=value.',
  }
}
