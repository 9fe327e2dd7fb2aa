import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** Throws if a package contains tests, sources or relative links, or if publint finds a flaw. Returns a summary. */
export async function checkTarball(tarball: string): Promise<string> {
  const name = basename(tarball)
  const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
  // The site has sources and tests that its pages link to, as texts.
  const unwanted = files.filter(
    (file) => !file.startsWith('package/site/') && /\.test\.|(?<!\.d)\.ts$|\/\.\w/.test(file),
  )
  if (unwanted.length > 0) throw new Error(`${name} contains ${unwanted.join(', ')}.`)
  for (const file of files.filter((one) => one.endsWith('.md'))) {
    const text = execFileSync('tar', ['-xzOf', tarball, file], { encoding: 'utf8' })
    const relative = text.match(/\]\((?!https:|#)[^)]*\)/g)
    if (relative !== null) throw new Error(`${name}: ${file} has relative links: ${relative.join(', ')}.`)
  }
  const bytes = readFileSync(tarball)
  const { messages, pkg } = await publint({
    pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) },
    strict: true,
  })
  if (messages.length > 0) {
    throw new Error(`publint: ${name}\n${messages.map((message) => formatMessage(message, pkg)).join('\n')}`)
  }
  return `${name}: ${files.length} files, ${Math.ceil(bytes.length / 1000)} KB, publint clean`
}
