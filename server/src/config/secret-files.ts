import { closeSync, openSync, readSync } from 'node:fs'
import { limits } from '../limits/limits.ts'
import type { ConfigFault } from './config-fault.ts'

export interface SecretFiles {
  /** The secrets that were read, by the name of their setting. */
  readonly values: ReadonlyMap<string, string>
  /** The paths of all files that are set, by the name of their setting, also of those that could not be read. */
  readonly paths: ReadonlyMap<string, string>
  readonly faults: readonly ConfigFault[]
}

/** Reads `DATABASE_URL` from the file that `DATABASE_URL_FILE` names, and so on for each setting that may be a secret. */
export function readSecretFiles(environment: NodeJS.ProcessEnv, names: readonly string[]): SecretFiles {
  const values = new Map<string, string>()
  const paths = new Map<string, string>()
  const faults: ConfigFault[] = []
  for (const name of names) {
    const variable = `${name}_FILE`
    const path = environment[variable] ?? ''
    if (path === '') continue
    paths.set(name, path)
    const value = (environment[name] ?? '') === '' ? readSecret(variable, path) : bothSet(name, variable)
    if (typeof value === 'string') values.set(name, value)
    else faults.push(value)
  }
  return { values, paths, faults }
}

function readSecret(variable: string, path: string): string | ConfigFault {
  if (path.includes('://')) {
    // The value may be a URL with a password, so the message must not contain it.
    const setting = variable.slice(0, -'_FILE'.length)
    return {
      variable,
      message: `${variable} is a URL, not the path of a file.`,
      repair: `Set ${variable} to the path of a file that contains the URL, or set ${setting} to the URL.`,
    }
  }
  let content: Buffer
  try {
    content = readBounded(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    return {
      variable,
      message: `${variable} names the file ${path}, which cannot be read${code}.`,
      repair: `Make it readable for the user of this process, or correct ${variable}.`,
    }
  }
  const value = withoutTrailingNewlines(content.toString('utf8'))
  const wrong = faultOfContent(content, value)
  return wrong === undefined
    ? value
    : {
        variable,
        message: `${variable} names the file ${path}, which ${wrong}.`,
        repair: 'The file must contain the value of the setting and nothing else.',
      }
}

function withoutTrailingNewlines(text: string): string {
  let end = text.length
  while (text[end - 1] === '\n' || text[end - 1] === '\r') end--
  return text.slice(0, end)
}

function faultOfContent(content: Buffer, value: string): string | undefined {
  if (content.length > limits.secretFileBytesMax) return `is larger than ${limits.secretFileBytesMax} bytes`
  if (value === '') return 'is empty'
  if (/[\r\n]/.test(value)) return 'has more than one line'
  return undefined
}

/** Reads one byte more than allowed, so that the caller detects a larger file. Also reads pipes, which have no size. */
function readBounded(path: string): Buffer {
  const buffer = Buffer.alloc(limits.secretFileBytesMax + 1)
  const file = openSync(path, 'r')
  try {
    let length = 0
    while (length < buffer.length) {
      const count = readSync(file, buffer, length, buffer.length - length, null)
      if (count === 0) break
      length += count
    }
    return buffer.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

function bothSet(name: string, variable: string): ConfigFault {
  return {
    variable,
    message: `${name} and ${variable} are both set.`,
    repair: `Unset one of them.`,
  }
}
