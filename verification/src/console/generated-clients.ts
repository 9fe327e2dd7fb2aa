import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Check, type Context, type Outcome, shared } from '../check.ts'
import { account, type Fixture, startWithThreeProducts } from '../integrators/client-fixture.ts'
import type { Generator } from './generators/generator.ts'
import { heyApi } from './generators/hey-api.ts'
import { openApiGenerator } from './generators/openapi-generator.ts'
import { openapiTypescript } from './generators/openapi-typescript.ts'
import { orval } from './generators/orval.ts'
import { run } from './run.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  module: 'esnext',
  moduleResolution: 'bundler',
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
}

/** Generated clients import files without their extension, as bundlers allow. */
const extensions = `import { registerHooks } from 'node:module'
registerHooks({
  resolve(specifier, context, next) {
    for (const suffix of ['', '.ts', '/index.ts']) {
      try {
        return next(specifier + suffix, context)
      } catch (error) {
        if (!specifier.startsWith('.')) throw error
      }
    }
    return next(specifier, context)
  },
})
`

/** The programs write to it: each its own products, which it names by a unique field. */
const fixtureWithKey = shared(async () => {
  const fixture = await startWithThreeProducts()
  await fixture.service.command([
    'field',
    'create',
    'product',
    'x_sku',
    'text',
    '--unique',
    '--account',
    account,
  ])
  return fixture
})

/** Those that need Node only. */
const generators: readonly Generator[] = [orval, openapiTypescript, heyApi]

interface Result {
  readonly name: string
  readonly fault?: string
  /** Errors with `exactOptionalPropertyTypes` in files that do not depend on the document. */
  readonly tolerated: number
}

/**
 * Generates a client from the document of a running service with each generator, compiles it strictly together with a program
 * that uses it, and runs the program against the service.
 */
export const generatedClients: Check = {
  name: 'generated_clients',
  bound: `${generators.length} of ${generators.length} generators`,
  run: (context) => generateWith(context, generators),
}

export const generatedByJava: Check = {
  name: 'generated_by_java',
  bound: '1 of 1 generators',
  needs: ['java'],
  run: (context) => generateWith(context, [openApiGenerator]),
}

async function generateWith(context: Context, chosen: readonly Generator[]): Promise<Outcome> {
  const fixture = await fixtureWithKey(context)
  const document = await ownDocument(fixture)
  const results: Result[] = []
  for (const generator of chosen) results.push(await resultOf(context, fixture, document, generator))
  const faults = results.filter((result) => result.fault !== undefined)
  return {
    value: `${results.length - faults.length} of ${results.length} read and write`,
    samples: results.length,
    ok: faults.length === 0,
    note: [
      ...faults.map((result) => `${result.name}: ${result.fault}`),
      ...results
        .filter((result) => result.tolerated > 0)
        .map(
          (result) =>
            `${result.name}: ${result.tolerated} errors with exactOptionalPropertyTypes in files that do not depend on the document`,
        ),
    ].join('\n'),
  }
}

/** The document with the fields of the account. */
async function ownDocument({ baseUrl, key }: Fixture): Promise<string> {
  const response = await fetch(`${baseUrl}/openapi.json`, { headers: { authorization: `Bearer ${key}` } })
  const document = await response.text()
  if (!document.includes('"x_sku":{')) throw new Error('the document lacks the field of the account')
  return document
}

async function resultOf(
  context: Context,
  fixture: Fixture,
  document: string,
  generator: Generator,
): Promise<Result> {
  const { name } = generator
  context.log(`${name}: generates, compiles and runs a client`)
  const folder = join(fixture.service.folder, `generated-${name.replaceAll('/', '-')}`)
  try {
    await prepare(folder, document, generator)
    const tolerated = await compile(folder, generator)
    const node = ['--no-warnings', '--import', './extensions.mjs', '--experimental-transform-types']
    await run(process.execPath, [...node, 'program.ts'], {
      cwd: folder,
      env: { BASE_URL: fixture.baseUrl, KEY: fixture.key },
    })
    return { name, tolerated }
  } catch (error) {
    return { name, fault: error instanceof Error ? error.message : String(error), tolerated: 0 }
  }
}

async function prepare(folder: string, document: string, generator: Generator): Promise<void> {
  const { packages, program } = generator
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  writeFileSync(join(folder, 'openapi.json'), document)
  writeFileSync(join(folder, 'extensions.mjs'), extensions)
  writeFileSync(join(folder, 'program.ts'), program)
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['program.ts'] }, null, 2),
  )
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--save-exact']
  if (packages.length > 0) await run('npm', ['install', ...quiet, ...packages], { cwd: folder })
  await generator.generate(folder)
}

/** Rejects on any error, except in the generator's own runtime with `exactOptionalPropertyTypes`; returns the number of these. */
async function compile(folder: string, { runtime }: Generator): Promise<number> {
  const tsc = (...args: string[]) =>
    run(join(root, 'node_modules/.bin/tsc'), ['--pretty', 'false', '-p', 'tsconfig.json', ...args], {
      cwd: folder,
    })
  if (runtime === undefined) {
    await tsc()
    return 0
  }
  await tsc('--exactOptionalPropertyTypes', 'false')
  const errors = await tsc().then(
    () => [],
    (error: Error) => error.message.split('\n').filter((line) => /^\S+\(\d+,\d+\): error/.test(line)),
  )
  const ours = errors.filter((line) => !runtime.test(line))
  if (ours.length > 0) throw new Error(ours.join('\n'))
  return errors.length
}
