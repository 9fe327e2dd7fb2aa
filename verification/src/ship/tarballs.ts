import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkTarball } from '../../../.ci/check-tarball.ts'
import { pack, packageNames } from '../../../.ci/pack.ts'
import { documented } from '../../../architecture/documented.ts'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import type { Check, Context, Outcome } from '../check.ts'
import { tsc7, tsc59 } from '../integrators/packed.ts'
import * as programs from '../integrators/programs.ts'
import { OnlyNode } from './only-node.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The tarballs of a release in empty projects, on every supported version of Node. */
export const tarballs: Check = {
  name: 'tarballs',
  bound: 'all steps on Node 24 and 26 (quick: 24)',
  run: (context) =>
    onNodes(context, context.quick ? ['node24'] : ['node24', 'node26'], async (machine, folder, step) => {
      await step('demo', () => runDemo(machine, folder, false))
      await commands(machine, folder, step)
    }),
}

/** The demo of the tarballs on a machine that seems to have no PostgreSQL: it downloads one. */
export const tarballAlone: Check = {
  name: 'tarball_alone',
  bound: 'demo without PostgreSQL',
  needs: ['mounts'],
  run: (context) =>
    onNodes(context, ['node24'], (machine, folder, step) =>
      step('demo without PostgreSQL', () => runDemo(machine, folder, true)),
    ),
}

type Step = (name: string, work: () => Promise<void>) => Promise<void>
type Steps = (machine: OnlyNode, folder: string, step: Step) => Promise<void>

async function onNodes(context: Context, names: readonly string[], steps: Steps): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-tarballs-'))
  try {
    const files = released() ?? pack(packageNames, folder)
    for (const file of files) context.log(await checkTarball(file))
    const results: Result[] = []
    for (const name of names) results.push(...(await stepsOn(nodeOf(name), files, context, steps)))
    const failed = results.filter(({ error }) => error !== undefined)
    return {
      value: `${results.length - failed.length} of ${results.length} steps`,
      samples: results.length,
      ok: failed.length === 0,
      ...(failed.length === 0
        ? {}
        : { note: failed.map(({ name, error }) => `${name}: ${error}`).join('\n') }),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Result {
  readonly name: string
  readonly error?: string
}

/** `npm run release` passes the folder with its tarballs; without it they are built. */
function released(): string[] | undefined {
  const folder = process.env['RELEASE_FOLDER']
  if (folder === undefined) return undefined
  return readdirSync(folder)
    .filter((file) => file.endsWith('.tgz'))
    .map((file) => join(folder, file))
}

function nodeOf(name: string): string {
  const node = `${root}.tools/${name}/node_modules/.bin/node`
  if (!existsSync(node)) throw new Error(`${name} is missing: bash .ci/install-tools ${name}`)
  return node
}

async function stepsOn(
  node: string,
  files: readonly string[],
  context: Context,
  steps: Steps,
): Promise<Result[]> {
  const machine = new OnlyNode(node)
  const results: Result[] = []
  const step = async (name: string, work: () => Promise<void>) => {
    const title = `Node ${machine.version}: ${name}`
    context.log(title)
    try {
      await work()
      results.push({ name: title })
    } catch (error) {
      results.push({ name: title, error: error instanceof Error ? error.message : String(error) })
    }
  }
  try {
    const folder = machine.project('quartermaster')
    for (const file of files) copyFileSync(file, join(folder, basename(file)))
    const [install = ''] = documented('tarball').trim().split('\n')
    await step(install, async () => void (await machine.run(install, folder)))
    await steps(machine, folder, step)
  } finally {
    await machine.stop()
  }
  return results
}

/** Runs the demo, then the command that it prints, then presses Ctrl-C. Its port may be in use here, so it gets another. */
async function runDemo(machine: OnlyNode, folder: string, hide: boolean): Promise<void> {
  const [, ...lines] = documented('tarball').trim().split('\n')
  const demo = machine.start(`${lines.join('\n')} --port 0`, folder, {}, hide)
  const [curl] = await demo.until(/^ +curl .*$/m)
  const response = JSON.parse(await machine.run(curl.replace('curl', 'curl -sS'), folder))
  if (response.meta.count !== 2) throw new Error(`The printed command returned ${JSON.stringify(response)}`)
  const downloaded = demo.stderr.includes('Downloading PostgreSQL')
  if (hide && !downloaded && !existsSync(join(machine.folder, 'var-cache/quartermaster')))
    throw new Error(`No download:\n${demo.stderr}`)
  demo.signal('SIGINT')
  await demo.ended
  const left = readdirSync(join(machine.folder, 'tmp')).filter((name) =>
    name.startsWith('quartermaster-postgres-'),
  )
  if (left.length > 0) throw new Error(`The demo left ${left.join(', ')} behind.`)
}

/** What an operator runs, on the temporary database of `quartermaster postgres`. */
async function commands(machine: OnlyNode, folder: string, step: Step): Promise<void> {
  const postgres = machine.start('npx quartermaster postgres --json', folder)
  const [, url = ''] = await postgres.until(/"database_url":"([^"]+)"/)
  const port = await freePort()
  const environment = { DATABASE_URL: url, PORT: String(port), QUARTERMASTER_DEFAULT_ACCOUNT: 'acme' }
  const quartermaster = (args: string) => machine.run(`npx quartermaster ${args}`, folder, environment)
  let key = ''
  await step('migrate, account, key', async () => {
    await quartermaster('migrate')
    await quartermaster('account create acme')
    key = JSON.parse(await quartermaster('key create --account acme --name check --json')).key
  })
  await step('import', async () => {
    writeFileSync(join(folder, 'products.csv'), products)
    await quartermaster('import product products.csv --account acme')
  })
  await step('export', async () => {
    const exported = await quartermaster('export product --account acme --fields id,name --format csv')
    if (!exported.includes('2,"Washer & ""nut"""')) throw new Error(`It exported ${exported}`)
  })
  await step('usage, completion, documents, deploy and man page', async () => {
    await quartermaster('usage --top ms --json')
    const completed = await machine.run(
      "npx quartermaster completion bash > qm.bash && bash -c '. ./qm.bash; COMP_WORDS=(quartermaster account cre); COMP_CWORD=2; _quartermaster; echo $COMPREPLY'",
      folder,
    )
    if (completed.trim() !== 'create') throw new Error(`It completed ${completed}`)
    const installed = join(folder, 'node_modules/quartermaster')
    for (const file of [
      'docs/operating/install.md',
      'deploy/README.md',
      'deploy/kubernetes/base/deployment.yaml',
      'man/quartermaster.1',
    ])
      if (!existsSync(join(installed, file))) throw new Error(`The tarball lacks ${file}.`)
  })
  await step('doctor', async () => void (await quartermaster('doctor --all-tallies')))
  const service = machine.start('npx quartermaster serve', folder, environment)
  await step('serve', async () => void (await machine.run(untilReady(port), folder)))
  await libraries(machine, folder, [`http://127.0.0.1:${port}`, key], step)
  await connector(machine, folder, step)
  await step('shutdown', async () => {
    service.signal('SIGTERM')
    await service.ended
    postgres.closeStdin()
    await postgres.ended
  })
}

/** Without an Odoo: the command starts, reads its configuration, and says that nothing answers. */
async function connector(machine: OnlyNode, tarballFolder: string, step: Step): Promise<void> {
  const folder = machine.project('connector')
  await step('the Odoo connector', async () => {
    const files = readdirSync(tarballFolder).filter((name) => name.startsWith('quartermaster-odoo-'))
    await machine.run(`npm install ${files.map((file) => join(tarballFolder, file)).join(' ')}`, folder)
    const url = `http://127.0.0.1:${await freePort()}`
    const configuration = { odoo: { url, database: 'acme' }, quartermaster: { url } }
    writeFileSync(join(folder, 'quartermaster-odoo.json'), JSON.stringify(configuration))
    const environment = { ODOO_KEY: 'none', QUARTERMASTER_KEY: 'none' }
    const said = await machine.run(
      'npx quartermaster-odoo check 2>&1 && exit 1; [ $? = 1 ]',
      folder,
      environment,
    )
    if (!said.includes('Odoo does not respond')) throw new Error(`check said ${said}`)
  })
}

const products = 'id,name,list_price\n1,Hex bolt,12.5\n2,"Washer & ""nut""",0.5\n3,Gear,99\n'

const untilReady = (port: number) =>
  `for i in $(seq 600); do curl -sf http://127.0.0.1:${port}/readyz && exit 0; sleep 0.1; done; exit 1`

/** The client and the filter language, imported from JavaScript and TypeScript. */
async function libraries(
  machine: OnlyNode,
  tarballFolder: string,
  access: readonly string[],
  step: Step,
): Promise<void> {
  const folder = machine.project('integration')
  await step('npm install of the client and the filter', async () => {
    const files = readdirSync(tarballFolder).filter((name) => /^quartermaster-(?:client|filter)-/.test(name))
    await machine.run(`npm install ${files.map((file) => join(tarballFolder, file)).join(' ')}`, folder)
  })
  const printsNames = async (file: string) => {
    const printed = await machine.run(`node ${file} ${access.join(' ')}`, folder)
    const expected = `${programs.expected}\n${filterPrinted}\n`
    if (printed !== expected) throw new Error(`${file} printed ${printed} instead of ${expected}`)
  }
  await step('JavaScript', async () => {
    writeFileSync(join(folder, 'main.mjs'), `${programs.esm}${filterProgram('')}`)
    await printsNames('main.mjs')
  })
  for (const [name, tsc] of Object.entries({ 'TypeScript 7': tsc7, 'TypeScript 5.9': tsc59 })) {
    await step(name, async () => {
      writeFileSync(join(folder, 'main.ts'), `${programs.typescript}${filterProgram(': Filter')}`)
      writeFileSync(join(folder, 'tsconfig.json'), programs.tsconfig('nodenext', 'nodenext'))
      rmSync(join(folder, 'out'), { recursive: true, force: true })
      await machine.run(`npm pkg set type=module && node ${tsc} -p .`, folder)
      await printsNames('out/main.js')
    })
  }
}

const filterPrinted = 'list_price>10&(active=true|name*bolt)'
const filterProgram = (type: string) => `
import { parse, print${type === '' ? '' : ', type Filter'} } from '@quartermaster/filter'
const parsed${type} = parse('list_price > 10 & (active = true | name * bolt)')
console.log(print(parsed))
`
