import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { type Limits, limits } from '../server/src/limits/limits.ts'
import { passedLimits } from '../server/src/limits/passed-limits.ts'
import { isNode, lineOf, type Node, parsed, propertyOf, visit } from './syntax.ts'

/** A limit that a test passes to the service is the one that the service uses, everywhere. */

const source = fileURLToPath(new URL('../server/src/', import.meta.url))
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('limits/'),
)

/** Where a passed limit is read from `limits.ts` nevertheless, and why. */
const allowed: Record<string, readonly string[]> = {
  // The defaults, if no limits are passed.
  'service.ts': ['all'],
  'delivery-service.ts': ['all'],
  'webhooks/sender.ts': ['all'],
  // The command `distribute`.
  'citus/distribute.ts': ['writeLockMsMax'],
  // Commands that are processes of their own. `doctor` counts the connections of services with the defaults.
  'cli/commands/changes-command.ts': ['feedCheckMs'],
  'cli/commands/webhook-command.ts': ['all'],
  'cli/doctor/checks/database.ts': ['pipelinedConnections', 'exportsInFlightMax', 'batchConnectionsMax'],
  'cli/doctor/checks/replicas.ts': ['exportsInFlightMax'],
  // The admin port, which receives no request of a client.
  'http/admin-server.ts': ['requestReceiveMsMax'],
}

it('passed limits exist', () => {
  expect(passedLimits.filter((name) => !(name in limits))).toEqual([])
  expect(new Set(passedLimits).size).toBe(passedLimits.length)
})

it('a limit that is a constant cannot be passed', () => {
  // @ts-expect-error: otherwise a test could pass it without any effect
  const constant: Partial<Limits> = { pageRecordsMax: 1 }
  expect(constant).toBeDefined()
})

it('no passed limit is read from limits.ts', () => {
  const found = files.toSorted().flatMap((file) => {
    const reads = constantReads(file, readFileSync(join(source, file), 'utf8'))
    return reads.length === 0 ? [] : [[file, [...new Set(reads.map((read) => read.replace(/^\d+: /, '')))]]]
  })
  expect(Object.fromEntries(found)).toEqual(allowed)
})

it.each([
  [`import { limits } from './limits.ts'; use(limits.writeMsMax)`, ['1: writeMsMax']],
  [`import { limits as all } from '../limits/limits.ts'; use(all['writeMsMax'])`, ['1: writeMsMax']],
  [`import { limits } from './limits.ts'\nconst { writeMsMax } = limits`, ['2: all']],
  [`import { limits } from './limits.ts'\nstart(limits)`, ['2: all']],
  [`import { limits } from './limits.ts'\nuse(limits[name])`, ['2: all']],
  [
    `import { webhookLimits } from './webhook-limits.ts'; use(webhookLimits.webhookLeaseMs)`,
    ['1: webhookLeaseMs'],
  ],
  [`import { limits } from './limits.ts'; use(limits.pageRecordsMax)`, []],
  [`import type { Limits } from './limits.ts'; const f = (limits: Limits) => limits.writeMsMax`, []],
])('finds what %s reads', (text, expected) => {
  expect(constantReads('a.ts', text)).toEqual(expected)
})

/** The passed limits that a file reads from the import, as `line: name`; `all` if it uses the whole object. */
function constantReads(file: string, text: string): string[] {
  const tree = parsed(file, text)
  const imported = importedNames(tree)
  const reads: string[] = []
  if (imported.size === 0) return reads
  visit(tree, (node, [parent]) => {
    if (node.type !== 'Identifier' || !imported.has(String(node['name']))) return
    if (parent === undefined || isOnlyName(node, parent)) return
    const name =
      parent.type === 'MemberExpression' && parent['object'] === node ? propertyOf(parent) : undefined
    if (name === undefined) reads.push(`${lineOf(text, node)}: all`)
    else if (passedLimits.some((passed) => passed === name)) reads.push(`${lineOf(text, node)}: ${name}`)
  })
  return reads
}

/** The local names of `limits` and of its parts, such as `webhookLimits`, without types. */
function importedNames(tree: Node): Set<string> {
  const names = new Set<string>()
  visit(tree, (node, [parent]) => {
    const from = isNode(parent?.['source']) ? String(parent['source']['value']) : ''
    if (node.type !== 'ImportSpecifier' || !/(?:^|\/)(?:\w+-)?limits\.ts$/.test(from)) return
    const { imported, local } = node
    const isConstant = isNode(imported) && /^(?:limits|\w+Limits)$/.test(String(imported['name']))
    if (isConstant && isNode(local)) names.add(String(local['name']))
  })
  return names
}

/** The import itself, a property of something else, or a key. */
function isOnlyName(node: Node, parent: Node): boolean {
  if (parent.type === 'ImportSpecifier') return true
  if (parent.type === 'MemberExpression') return parent['property'] === node && parent['computed'] !== true
  return /Property|Signature/.test(parent.type) && parent['key'] === node && parent['value'] !== node
}
