import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { commandTree } from '../server/src/cli/completion/command-tree.ts'
import { manPage } from '../server/src/cli/completion/man-page.ts'
import { program } from '../server/src/cli/program.ts'
import { loadConfig } from '../server/src/config/config.ts'
import { installLock } from './install-lock.ts'

/**
 * Writes the npm packages as tarballs into release/, or into the folder of --to:
 *
 *   node .ci/pack.ts [--to FOLDER] [filter] [client] [server] [odoo]
 *
 * The sources run without a build in a checkout, but Node refuses TypeScript below node_modules. So each package is
 * compiled into a temporary folder, with a package.json that names the compiled files. Prints one path per line.
 *
 * Next to the server's tarball it writes a package.json and a package-lock.json: `npm ci` in that folder installs the
 * service with exactly the dependencies of this checkout.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const { version, repository } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const sourceUrl = String(repository.url).replace(/^git\+|\.git$/g, '')

/** Packages of this repository that the server's tarball contains. */
const bundleDependencies = ['@quartermaster/filter']

const packages = { filter: buildFilter, client: buildClient, server: buildServer, odoo: buildOdoo }
type PackageName = keyof typeof packages
export const packageNames: readonly PackageName[] = Object.keys(packages).filter(isPackageName)

const folderOf = (name: PackageName) => (name === 'odoo' ? 'connectors/odoo' : name)

export function pack(names: readonly PackageName[], destination: string): string[] {
  mkdirSync(destination, { recursive: true })
  const staging = mkdtempSync(join(tmpdir(), 'quartermaster-pack-'))
  try {
    return names.map((name) => {
      const folder = join(staging, name)
      packages[name](folder)
      const tarball = npmPack(folder, destination)
      if (name === 'server') writeInstallLock(tarball, destination)
      return tarball
    })
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

function buildFilter(folder: string): void {
  compile('filter', folder, { declaration: true })
  describe('filter', folder, {
    files: ['dist', 'CHANGELOG.md'],
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
  })
}

/** The client is one module with the filter language in it: `client/build.ts`. */
function buildClient(folder: string): void {
  execFileSync(process.execPath, [`${root}client/build.ts`, join(folder, 'dist')], { stdio: 'inherit' })
  describe('client', folder, { files: ['dist', 'CHANGELOG.md'] })
}

/**
 * Contains the filter package, the built console and the built site, so that one tarball is enough to install the service, and what its
 * operator needs without a checkout: the documents, the files of `deploy/` and a man page.
 */
function buildServer(folder: string): void {
  compile('server', folder, {})
  for (const part of ['bin', 'migrations'])
    cpSync(`${root}server/${part}`, join(folder, part), { recursive: true })
  execFileSync(process.execPath, [`${root}console/build.ts`, join(folder, 'console')], { stdio: 'inherit' })
  execFileSync(process.execPath, [`${root}site/build.ts`, join(folder, 'site')], { stdio: 'inherit' })
  describe('server', folder, {
    files: ['bin/*.js', 'console', 'deploy', 'dist', 'docs', 'man', 'migrations', 'site', 'CHANGELOG.md'],
    man: ['./man/quartermaster.1'],
    imports: { '#main': './dist/main.js' },
    exports: { './package.json': './package.json' },
    bundleDependencies,
  })
  mkdirSync(join(folder, 'man'))
  writeFileSync(join(folder, 'man/quartermaster.1'), manPage(commandTree(program(loadConfig({}))), version))
  copyDocuments(folder)
  buildFilter(join(folder, 'node_modules/@quartermaster/filter'))
}

/** The connector is one module, with the client and what connectors have in common in it: `connectors/odoo/build.ts`. */
function buildOdoo(folder: string): void {
  execFileSync(process.execPath, [`${root}connectors/odoo/build.ts`, join(folder, 'dist')], {
    stdio: 'inherit',
  })
  cpSync(`${root}connectors/odoo/bin`, join(folder, 'bin'), { recursive: true })
  describe('odoo', folder, {
    private: undefined,
    dependencies: undefined,
    files: ['bin', 'dist', 'CHANGELOG.md'],
    imports: { '#start': './dist/command.js' },
    publishConfig: { access: 'public', provenance: true },
  })
}

/** Without pictures and decision records. */
function copyDocuments(folder: string): void {
  const files = execFileSync('git', ['ls-files', 'docs/*.md', 'deploy'], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter((file) => !file.startsWith('docs/adr/') && !/\/\.\w|\.test\./.test(file))
  for (const file of files) {
    mkdirSync(join(folder, posix.dirname(file)), { recursive: true })
    cpSync(`${root}${file}`, join(folder, file))
    if (!file.endsWith('.md')) continue
    const text = readFileSync(`${root}${file}`, 'utf8')
    writeFileSync(join(folder, file), absoluteLinks(text, posix.dirname(file)))
  }
}

function compile(name: 'filter' | 'server', folder: string, options: Record<string, unknown>): void {
  mkdirSync(folder, { recursive: true })
  const project = join(folder, 'tsconfig.json')
  write(project, {
    extends: `${root}tsconfig.json`,
    compilerOptions: {
      noEmit: false,
      rewriteRelativeImportExtensions: true,
      rootDir: `${root}${name}/src`,
      outDir: join(folder, 'dist'),
      typeRoots: [`${root}node_modules/@types`],
      ...options,
    },
    include: [`${root}${name}/src`],
    exclude: [`${root}${name}/src/**/*.test.ts`],
  })
  execFileSync(`${root}node_modules/.bin/tsc`, ['-p', project], { stdio: 'inherit' })
  rmSync(project)
  for (const file of globSync(join(folder, 'dist/**/*.d.ts'))) {
    // tsc does not change the `.ts` extension of imports in declaration files.
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replaceAll(/(from '\.[\w./-]+)\.ts'/g, "$1.js'"))
  }
}

/** Writes package.json, README, changelog and licence. `published` replaces what is different outside a checkout. */
function describe(name: PackageName, folder: string, published: Record<string, unknown>): void {
  const {
    scripts: _,
    devDependencies: __,
    ...manifest
  } = JSON.parse(readFileSync(`${root}${folderOf(name)}/package.json`, 'utf8'))
  if (manifest.version !== version) {
    throw new Error(
      `${folderOf(name)}/package.json has version ${manifest.version}, package.json has ${version}.`,
    )
  }
  write(join(folder, 'package.json'), {
    ...manifest,
    homepage: `${sourceUrl}#readme`,
    bugs: `${sourceUrl}/issues`,
    repository: { ...repository, directory: folderOf(name) },
    ...published,
  })
  for (const document of ['README.md', 'CHANGELOG.md']) {
    const text = readFileSync(`${root}${folderOf(name)}/${document}`, 'utf8')
    writeFileSync(join(folder, document), absoluteLinks(text, folderOf(name)))
  }
  cpSync(`${root}LICENSE`, join(folder, 'LICENSE'))
}

/** Relative links lead nowhere outside the repository. They become links to the files of this version. */
function absoluteLinks(text: string, from: string): string {
  return text.replaceAll(
    /(!?)(\[[^\]]*\])\((?!https?:|#)([^)\s]+)\)/g,
    (_, image: string, label: string, target: string) =>
      `${image}${label}(${sourceUrl}/${image === '' ? 'blob' : 'raw'}/v${version}/${posix.join(from, target)})`,
  )
}

function npmPack(folder: string, destination: string): string {
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', resolve(destination)]
  const file = execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }).trim()
  return join(destination, file)
}

function writeInstallLock(tarball: string, destination: string): void {
  const { manifest, lock } = installLock(root, 'server', tarball, bundleDependencies)
  write(join(destination, 'package.json'), manifest)
  write(join(destination, 'package-lock.json'), lock)
}

function write(file: string, data: unknown): void {
  writeFileSync(file, `${JSON.stringify(data, null, 2)}\n`)
}

function isPackageName(name: string): name is PackageName {
  return name in packages
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { to: { type: 'string' } } })
  const unknown = positionals.filter((name) => !isPackageName(name))
  if (unknown.length > 0) throw new Error(`No package ${unknown.join(', ')}: ${packageNames.join(', ')}.`)
  const names = positionals.length === 0 ? packageNames : positionals
  for (const file of pack(names.filter(isPackageName), values.to ?? `${root}release`)) console.log(file)
}
