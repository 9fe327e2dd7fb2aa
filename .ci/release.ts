import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkTarball } from './check-tarball.ts'
import { pack, packageNames } from './pack.ts'

/**
 * `npm run release`: everything of a release except publishing it. Writes release/ with the tarballs, the wheel of the Python client,
 * the lock file of the service, an SBOM and checksums, installs the tarballs into empty projects on every supported version of
 * Node, and builds the container image and runs the acceptance tests against it.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = `${root}release`
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

checkTree()
execFileSync('bash', ['.ci/install-tools', 'node24', 'node26'], { cwd: root, stdio: 'inherit' })
rmSync(folder, { recursive: true, force: true })
const tarballs = pack(packageNames, folder)
for (const tarball of tarballs) console.log(await checkTarball(tarball))
const wheel = buildWheel()
execFileSync(process.execPath, [`${root}.ci/sbom.ts`], { cwd: root, stdio: 'inherit' })
copyFileSync(`${root}sbom/service.cdx.json`, `${folder}/quartermaster-${version}.cdx.json`)
writeChecksums()
const checks = 'tarballs,tarball_alone,image,image_secrets'
execFileSync(process.execPath, [`${root}verification/src/main.ts`, 'ship', '--complete', '--only', checks], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, RELEASE_FOLDER: folder },
})
console.log(`
${version} is in release/. To publish it:

  git tag -s v${version} && git push origin v${version}
  upload release/* to the release of that tag
${tarballs.map((tarball) => `  npm publish release/${basename(tarball)}`).join('\n')}
  twine upload release/${wheel}
`)

/** What is released must be in Git, with its changelog. */
function checkTree(): void {
  const changed = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })
  if (changed !== '') throw new Error(`Commit or remove these files first:\n${changed}`)
  const pending = readdirSync(`${root}.changeset`).filter((file) => /^(?!README).*\.md$/.test(file))
  if (pending.length > 0)
    throw new Error(`Run npm run version first: ${pending.join(', ')} is not in a version yet.`)
  const changelog = readFileSync(`${root}CHANGELOG.md`, 'utf8')
  if (!changelog.includes(`## [${version}] - `))
    throw new Error(`CHANGELOG.md has no section [${version}] with a date.`)
}

/** The Python client, installed from its wheel into an empty environment and imported. Needs Debian's python3-venv. */
function buildWheel(): string {
  const environment = mkdtempSync(join(tmpdir(), 'quartermaster-wheel-'))
  const python = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: environment, stdio: ['ignore', 'inherit', 'inherit'] })
  try {
    // From a copy: pip leaves its own files beside the sources.
    cpSync(`${root}clients/python`, join(environment, 'source'), { recursive: true })
    python('python3', '-m', 'venv', 'venv')
    python('venv/bin/pip', 'wheel', '--quiet', '--no-index', '--no-deps', '--wheel-dir', folder, './source')
    const file = `quartermaster-${version}-py3-none-any.whl`
    python('venv/bin/pip', 'install', '--quiet', '--no-index', join(folder, file))
    python('venv/bin/python', '-c', `import quartermaster; assert quartermaster.__version__ == '${version}'`)
    console.log(`${file}: installed, imported`)
    return file
  } finally {
    rmSync(environment, { recursive: true, force: true })
  }
}

function writeChecksums(): void {
  const lines = readdirSync(folder).map((file) => {
    const hash = createHash('sha256')
      .update(readFileSync(`${folder}/${file}`))
      .digest('hex')
    return `${hash}  ${file}\n`
  })
  writeFileSync(`${folder}/SHA256SUMS`, lines.join(''))
}
