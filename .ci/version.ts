import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * `npm run version`: applies the changesets to the versions and changelogs of the packages, then the new version to what
 * changesets do not know: the workspace, the date in CHANGELOG.md, the names of the tarballs in documents, the lock file.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const edit = (file: string, change: (text: string) => string) =>
  writeFileSync(`${root}${file}`, change(readFileSync(`${root}${file}`, 'utf8')))
const versionIn = (file: string) => String(JSON.parse(readFileSync(`${root}${file}`, 'utf8')).version)

const before = versionIn('server/package.json')
const changesets = readdirSync(`${root}.changeset`).filter((file) => /^(?!README).*\.md$/.test(file))
const isReleased = readFileSync(`${root}CHANGELOG.md`, 'utf8').includes(`## [${before}] - `)
if (!isReleased && changesets.length > 0) {
  throw new Error(
    `${before} is not released yet, so its changes need no changeset: remove ${changesets.join(', ')}.`,
  )
}
if (changesets.length > 0) {
  execFileSync(`${root}node_modules/.bin/changeset`, ['version'], { cwd: root, stdio: 'inherit' })
} else if (isReleased) {
  throw new Error(
    `Nothing has changed since ${before}: .changeset has no changeset. Add one with npx changeset.`,
  )
}

const version = versionIn('server/package.json')
edit('package.json', (text) => text.replace(`"version": "${before}"`, `"version": "${version}"`))
for (const connector of ['sync', 'odoo'])
  edit(`connectors/${connector}/package.json`, (text) => text.replaceAll(`"${before}"`, `"${version}"`))
edit('clients/python/pyproject.toml', (text) =>
  text.replace(`version = "${before}"`, `version = "${version}"`),
)
edit('clients/python/src/quartermaster/_version.py', (text) => text.replace(`"${before}"`, `"${version}"`))
const date = new Date().toISOString().slice(0, 10)
edit('CHANGELOG.md', (text) =>
  text.replace(
    /^## \[Unreleased\]\n(?:\nTo be released as .*\n)?/m,
    `## [Unreleased]\n\n## [${version}] - ${date}\n`,
  ),
)
const documents = execFileSync('git', ['ls-files', '*.md', 'Containerfile', 'deploy'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
for (const file of documents.filter((name) => !/CHANGELOG\.md$|^\.changeset/.test(name))) {
  edit(file, (text) =>
    text.replaceAll(
      /(quartermaster(?:-client|-filter|-odoo)?)-\d+\.\d+\.\d+\.(tgz|cdx\.json)/g,
      `$1-${version}.$2`,
    ),
  )
}
execFileSync('npm', ['install', '--package-lock-only', '--loglevel=error'], { cwd: root, stdio: 'inherit' })
console.log(`${before} → ${version}. Read the changes, commit them, then run npm run release.`)
