import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** Import directions, cycles, sizes of files and functions, and names. */

const root = fileURLToPath(new URL('..', import.meta.url))
const linesMax = 400
const functionLinesMax = 70

const folders = [
  'filter/src',
  'server/src',
  'client/src',
  'client/test',
  'connectors/sync/src',
  'connectors/odoo/src',
  'connectors/odoo/test',
  'console/src',
  'acceptance',
  'verification/src',
  'bench/src',
]
const sourceFiles = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules'))
    .map((file) => join(folder, file)),
)

const baseFolders = ['config', 'errors', 'limits']
/** The folders that a folder of the server may import, besides itself. `base`: the files directly in server/src, and `baseFolders`. */
const mayImport: Record<string, readonly string[]> = {
  base: [],
  catalog: ['base'],
  query: ['catalog', 'base'],
  observability: ['base'],
  scheduler: ['base'],
  postgres: ['catalog', 'observability', 'base'],
  accounts: ['scheduler', 'postgres', 'catalog', 'observability', 'base'],
  lists: ['scheduler', 'accounts', 'postgres', 'query', 'catalog', 'observability', 'base'],
  fields: ['writes', 'accounts', 'postgres', 'query', 'catalog', 'observability', 'base'],
  changes: [
    'scheduler',
    'fields',
    'lists',
    'accounts',
    'postgres',
    'query',
    'catalog',
    'observability',
    'base',
  ],
  writes: ['postgres', 'query', 'catalog', 'observability', 'base'],
  import: ['fields', 'writes', 'accounts', 'postgres', 'query', 'catalog', 'observability', 'base'],
  webhooks: [
    'scheduler',
    'fields',
    'changes',
    'lists',
    'accounts',
    'postgres',
    'query',
    'catalog',
    'observability',
    'base',
  ],
  batches: [
    'scheduler',
    'import',
    'writes',
    'accounts',
    'postgres',
    'query',
    'catalog',
    'observability',
    'base',
  ],
  activity: ['accounts', 'postgres', 'query', 'catalog', 'observability', 'base'],
  citus: [
    'webhooks',
    'activity',
    'import',
    'writes',
    'changes',
    'lists',
    'accounts',
    'postgres',
    'query',
    'catalog',
    'observability',
    'base',
  ],
  erasure: ['fields', 'writes', 'accounts', 'postgres', 'query', 'catalog', 'observability', 'base'],
  archive: ['fields', 'writes', 'lists', 'accounts', 'postgres', 'query', 'catalog', 'observability', 'base'],
  http: [
    'erasure',
    'scheduler',
    'fields',
    'webhooks',
    'batches',
    'import',
    'changes',
    'writes',
    'lists',
    'accounts',
    'postgres',
    'query',
    'catalog',
    'observability',
    'base',
  ],
  processes: ['http', 'accounts', 'observability', 'base'],
  cli: [
    'citus',
    'erasure',
    'fields',
    'archive',
    'processes',
    'import',
    'writes',
    'http',
    'webhooks',
    'changes',
    'lists',
    'activity',
    'accounts',
    'postgres',
    'query',
    'catalog',
    'observability',
    'base',
  ],
}
/** The composition root may import every folder, and the command line may start it. */
const composing = ['server/src/main.ts', 'server/src/service.ts', 'server/src/delivery-service.ts']
/** Imports the code for one kind of database when a connection finds one, so that no part need be passed it. */
const loading = 'server/src/postgres/load-layout.ts'

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '')
}

function localImports(file: string): string[] {
  return importsOf(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => relative(root, join(root, dirname(file), name)))
}

function folderOf(file: string): string {
  const [folder = '', ...rest] = file.slice('server/src/'.length).split('/')
  return rest.length === 0 || baseFolders.includes(folder) ? 'base' : folder
}

describe('imports', () => {
  const server = sourceFiles.filter((file) => file.startsWith('server/src/') && !file.endsWith('.test.ts'))

  it('have the allowed direction between the folders of the server', () => {
    const wrong = server
      .filter((file) => !composing.includes(file) && file !== loading)
      .flatMap((file) =>
        localImports(file)
          .filter((target) => target.startsWith('server/src/'))
          .filter((target) => {
            const [from, to] = [folderOf(file), folderOf(target)]
            return from !== to && !mayImport[from]?.includes(to)
          })
          .map((target) => `${file} → ${target}`),
      )
    expect(wrong).toEqual([])
  })

  it('have no cycles', () => {
    const done = new Set<string>()
    const cycles: string[] = []
    const visit = (file: string, path: readonly string[]) => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '))
      if (done.has(file) || path.includes(file) || file === loading) return
      for (const target of localImports(file).filter((t) => sourceFiles.includes(t)))
        visit(target, [...path, file])
      done.add(file)
    }
    for (const file of sourceFiles) visit(file, [])
    expect(cycles).toEqual([])
  })

  it('of Fastify are only in http', () => {
    const fastify = server.filter((file) => folderOf(file) !== 'http' && importsOf(file).includes('fastify'))
    expect(fastify).toEqual([])
  })

  it('of the import folder include neither files nor the process, so that HTTP can use it', () => {
    const files = server.filter((file) => folderOf(file) === 'import')
    const wrong = files.filter(
      (file) =>
        importsOf(file).some((name) => /^node:(?:fs|process|readline)/.test(name)) ||
        /\bprocess\./.test(readFileSync(join(root, file), 'utf8')),
    )
    expect(wrong).toEqual([])
  })

  it('of the filter language are its own files only', () => {
    const filter = sourceFiles.filter((file) => file.startsWith('filter/src/') && !file.endsWith('.test.ts'))
    expect(filter.flatMap(importsOf).filter((name) => !name.startsWith('./'))).toEqual([])
  })

  it('of the client are its own files and the filter language only', () => {
    const client = sourceFiles.filter((file) => file.startsWith('client/src/') && !file.endsWith('.test.ts'))
    const wrong = client.flatMap(importsOf).filter((name) => !/^(?:\.\/|@quartermaster\/filter$)/.test(name))
    expect(wrong).toEqual([])
  })

  it('of a connector are its own files, the client and what connectors have in common: the public API only', () => {
    const files = sourceFiles.filter((file) => /^connectors\/\w+\/src\//.test(file))
    expect(files.length).toBeGreaterThan(20)
    const foreign = files.flatMap((file) =>
      importsOf(file)
        .filter((name) => !/^(?:\.\/|node:|vitest$|#start$)/.test(name))
        .map((name) => `${name} in ${file.split('/')[1]}`),
    )
    expect([...new Set(foreign)].toSorted()).toEqual([
      '@quartermaster/client in odoo',
      '@quartermaster/client in sync',
      '@quartermaster/sync in odoo',
    ])
  })

  it('of the console are its own files, the client, the filter language and libraries: nothing of the server', () => {
    const files = sourceFiles.filter(
      (file) =>
        file.startsWith('console/src/') &&
        !/\.test\.tsx?$/.test(file) &&
        file !== 'console/src/api/catalog.ts',
    )
    // The console shows the programs of the guides.
    const isOwn = (target: string) => target.startsWith('console/src/') || target.startsWith('examples/')
    expect(files.flatMap(localImports).filter((target) => !isOwn(target))).toEqual([])
    const quartermaster = files.flatMap(importsOf).filter((name) => name.startsWith('@quartermaster/'))
    expect([...new Set(quartermaster)].toSorted()).toEqual(['@quartermaster/client', '@quartermaster/filter'])
  })

  it('within the console point from pages to components to pure modules', () => {
    const pure = sourceFiles.filter((file) => /^console\/src\/(?:lib|filter|api)\//.test(file))
    const wrong = pure.flatMap((file) =>
      localImports(file).filter((target) => /^console\/src\/(?:components|routes)\//.test(target)),
    )
    expect(wrong).toEqual([])
  })

  it('of the acceptance tests are their own files only: they use HTTP and the command line', () => {
    const acceptance = sourceFiles.filter((file) => file.startsWith('acceptance/'))
    expect(acceptance.flatMap(localImports).filter((target) => !target.startsWith('acceptance/'))).toEqual([])
  })
})

describe('size', () => {
  it(`no file has more than ${linesMax} lines`, () => {
    const long = sourceFiles
      .map((file) => [file, readFileSync(join(root, file), 'utf8')] as const)
      .filter(([, text]) => !text.startsWith('// Generated'))
      .map(([file, text]) => [file, text.split('\n').length] as const)
      .filter(([, lines]) => lines > linesMax)
    expect(long).toEqual([])
  })

  it(`no function has more than ${functionLinesMax} lines`, () => {
    expect(sourceFiles.filter((file) => !file.endsWith('.test.ts')).flatMap(longFunctions)).toEqual([])
  })
})

/** In formatted code, the closing brace of a function has the indentation of its first line. */
function longFunctions(file: string): string[] {
  const lines = readFileSync(join(root, file), 'utf8').split('\n')
  return lines.flatMap((line, start) => {
    const head =
      /^(\s*)(?:export )?(?:async )?(?:function\b|(?:static |private |readonly )*(?:async )?[#\w]+\(.*\{$|const \w+ = (?:async )?\((?:.*\{)?$)/.exec(
        line,
      )
    if (head === null) return []
    const end = lines.findIndex((other, i) => i > start && other.startsWith(`${head[1]}}`))
    return end - start + 1 > functionLinesMax ? [`${file}:${start + 1} (${end - start + 1} lines)`] : []
  })
}

describe('state', () => {
  it('of a connection is in its `Connection`, and that of an error in the error', () => {
    const server = sourceFiles.filter((file) => file.startsWith('server/src/'))
    const keyed = server.filter((file) =>
      /Weak(?:Map|Set)<(?:pg\.|Client|Connection|Failure|Error)/.test(readFileSync(join(root, file), 'utf8')),
    )
    expect(keyed).toEqual([])
  })
})

describe('names', () => {
  it('use one word per concept, and no Manager, Helper or DTO', () => {
    const server = sourceFiles.filter((file) => file.startsWith('server/src/'))
    const wrong = server.filter((file) =>
      /\btenant|\w(Manager|Helper|DTO)\b/i.test(readFileSync(join(root, file), 'utf8')),
    )
    expect(wrong).toEqual([])
    expect(
      sourceFiles.filter((file) => /(^|\/)(utils?|helpers?|common|shared|types)(\/|\.ts$)/.test(file)),
    ).toEqual([])
  })
})
