import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { isNode, type Node, parsed, visit } from './syntax.ts'

/**
 * The composition root, `service.ts`, creates every part of a process, and a part creates its caches. A module has no state of its
 * own: two services of one process share nothing, and a test starts with empty caches.
 */

const source = fileURLToPath(new URL('../server/src/', import.meta.url))
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
)

/** State of a module, and why it is not that of a part. */
const allowed: Record<string, readonly string[]> = {
  // A counter that makes ids unique in the whole process.
  'entry-id.ts': ['count'],
  // Says to the callbacks of OpenTelemetry, which get no argument, who reads the metrics.
  'observability/process-metrics.ts': ['scraping'],
}

it('no module has state', () => {
  const found = files.toSorted().flatMap((file) => {
    const names = stateOf(file, readFileSync(join(source, file), 'utf8'))
    return names.length === 0 ? [] : [[file, names]]
  })
  expect(Object.fromEntries(found)).toEqual(allowed)
})

it.each([
  ['const cache = new LRUCache({ max: 5 })', ['cache']],
  ['export const cache = new Map<string, Plan>()', ['cache']],
  ['const [a, b] = [new Set(), 1]', ['[a, b]']],
  ['const list: string[] = []', ['list']],
  ['const known: Record<string, number> = {}', ['known']],
  ['let count = 0', ['count']],
  ['class A { readonly #of = new WeakMap<Client, number>() }', ['WeakMap']],
  ['function f() { return new WeakSet() }', ['WeakSet']],
  [`const methods = new Set(['GET'])`, []],
  ['const table = new Map(entries.map(pair))', []],
  ['const pattern = new RegExp(text, "u")', []],
  [`const file = new URL('../package.json', import.meta.url)`, []],
  ['class A { readonly #of = new Map<string, number>() }', []],
  ['function f() { let n = 0; return new Map() }', []],
])('finds the state of %s', (text, expected) => {
  expect(stateOf('a.ts', text)).toEqual(expected)
})

/** Variables of a module that can change, by name, and weak collections anywhere, which are state beside its owner. */
function stateOf(file: string, text: string): string[] {
  const found: string[] = []
  visit(parsed(file, text), (node, outer) => {
    if (node.type === 'NewExpression' && /^Weak(?:Map|Set)$/.test(nameOf(node['callee']) ?? ''))
      found.push(String(nameOf(node['callee'])))
    if (node.type !== 'VariableDeclarator' || !isOfModule(outer)) return
    const { id } = node
    const isVariable = outer[0]?.['kind'] === 'let'
    if (isNode(id) && (isVariable || createsState(node['init'])))
      found.push(nameOf(id) ?? text.slice(id.start, Number(id['end'])))
  })
  return found
}

function isOfModule([, ...outer]: readonly Node[]): boolean {
  return outer.every(({ type }) => type === 'Program' || type === 'ExportNamedDeclaration')
}

/** A collection without content, or an instance of a class. A collection that is created with its content is a table. */
function createsState(init: unknown): boolean {
  if (!isNode(init)) return false
  if (init.type === 'ArrayExpression')
    return isEmpty(init['elements']) || someNode(init['elements'], createsState)
  if (init.type === 'ObjectExpression') return isEmpty(init['properties'])
  if (init.type !== 'NewExpression') return false
  const name = nameOf(init['callee']) ?? ''
  if (/^(?:Map|Set)$/.test(name)) return isEmpty(init['arguments'])
  return !/^(?:RegExp|URL)$/.test(name)
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function someNode(values: unknown, test: (value: unknown) => boolean): boolean {
  return Array.isArray(values) && values.some(test)
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && node.type === 'Identifier' ? String(node['name']) : undefined
}
