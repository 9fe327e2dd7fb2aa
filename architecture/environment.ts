import { isNode, lineOf, type Node, parsed, propertyOf, textOf, visit } from './syntax.ts'

/** Members of `process` that show environment variables, or a way to them. */
const revealing = ['env', 'loadEnvFile', 'report', 'getBuiltinModule', 'binding', 'mainModule']
const modules = /^(?:node:)?process$|^dotenv\b/
const globals = ['globalThis', 'global']

/**
 * Everything in a file that may read an environment variable, as `line: what`. `process` may be used only as `process.name`, with a
 * name that is written out and harmless: then nothing can hide behind another name for it.
 */
export function environmentReads(file: string, text: string): string[] {
  const found: string[] = []
  visit(parsed(file, text), (node, outer) => {
    const what = readOf(node, outer)
    if (what !== undefined) found.push(`${lineOf(text, node)}: ${what}`)
  })
  return found
}

function readOf(node: Node, outer: readonly Node[]): string | undefined {
  const name = node.type === 'Identifier' ? String(node['name']) : ''
  if (name === 'process') return readOfProcess(node, outer)
  if (globals.includes(name)) return readOfGlobal(name, node, outer[0])
  const isImport = /^(?:Import|Export).*(?:Declaration|Expression)$/.test(node.type)
  const isRequire =
    node.type === 'CallExpression' && isNode(node['callee']) && node['callee']['name'] === 'require'
  const [argument] = Array.isArray(node['arguments']) ? node['arguments'] : []
  const module = isImport ? textOf(node['source']) : isRequire ? textOf(argument) : undefined
  return module !== undefined && modules.test(module) ? `imports ${module}` : undefined
}

function readOfProcess(node: Node, [parent, grandparent]: readonly Node[]): string | undefined {
  // A name of something else: `a.process`, `{ process: 1 }`.
  if (parent?.type === 'MemberExpression' && parent['property'] === node && parent['computed'] !== true)
    return undefined
  if (parent?.type === 'Property' && parent['key'] === node && parent['value'] !== node) return undefined
  if (parent?.type === 'VariableDeclarator' && parent['init'] === node) return readOfPattern(parent['id'])
  if (parent?.type !== 'MemberExpression' || parent['object'] !== node) return 'process as a value'
  const name = propertyOf(parent)
  if (name === undefined) return 'process[…]'
  if (!revealing.includes(name)) return undefined
  const isMember = grandparent?.type === 'MemberExpression' && grandparent['object'] === parent
  const member = isMember ? propertyOf(grandparent) : undefined
  return member === undefined ? `process.${name}` : `process.${name}.${member}`
}

/** `const { stdout, stderr } = process` */
function readOfPattern(pattern: unknown): string | undefined {
  if (!isNode(pattern) || pattern.type !== 'ObjectPattern' || !Array.isArray(pattern['properties']))
    return 'process as a value'
  const names = pattern['properties'].map((property: Node) =>
    property.type === 'Property' ? propertyOf({ ...property, property: property['key'] }) : undefined,
  )
  const isHarmless = names.every((name) => name !== undefined && !revealing.includes(name))
  return isHarmless ? undefined : `{ ${names.map((name) => name ?? '…').join(', ')} } of process`
}

function readOfGlobal(global: string, node: Node, parent: Node | undefined): string | undefined {
  if (parent?.type === 'MemberExpression' && parent['property'] === node && parent['computed'] !== true)
    return undefined
  if (parent?.type !== 'MemberExpression' || parent['object'] !== node) return `${global} as a value`
  const name = propertyOf(parent)
  return name === undefined || name === 'process' ? `${global}.${name ?? '[…]'}` : undefined
}
