import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'
import { limits } from '../server/src/limits/limits.ts'

export interface Expression {
  /** `file:line` */
  readonly at: string
  readonly source: string
  readonly flags: string
}

interface Found {
  readonly expressions: Expression[]
  /** Positions of expressions whose pattern is known only at run time. They cannot be checked. */
  readonly unknown: string[]
}

/** Every regular expression of the sources in a folder, without tests. */
export function expressionsUnder(root: string, folder: string): Found {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
    .map((file) => join(folder, file))
  const found = files.map((file) => expressionsOf(file, readFileSync(join(root, file), 'utf8')))
  return {
    expressions: found.flatMap(({ expressions }) => expressions),
    unknown: found.flatMap(({ unknown }) => unknown),
  }
}

export function expressionsOf(file: string, text: string): Found {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const found: Found = { expressions: [], unknown: [] }
  visitNodes(program, (node) => {
    const at = `${file}:${text.slice(0, node.start).split('\n').length}`
    const { regex } = node
    if (isRecord(regex)) {
      found.expressions.push({ at, source: String(regex['pattern']), flags: String(regex['flags']) })
    } else if (createsExpression(node)) {
      const [source, flags] = node.arguments.map(textOf)
      const isKnown = source !== undefined && node.arguments.length <= 2
      if (isKnown) found.expressions.push({ at, source, flags: flags ?? '' })
      // The literal in `RegExp(/…/)` or `'…'.match(/…/)` is a node of its own.
      else if (!isRecord(node.arguments[0]?.['regex'])) found.unknown.push(at)
    }
  })
  return found
}

interface Node {
  readonly [key: string]: unknown
  readonly type: string
  readonly start: number
}

interface Call extends Node {
  readonly callee: Node
  readonly arguments: readonly Node[]
}

/** `new RegExp(…)`, `RegExp(…)`, and the string methods that convert their argument to a regular expression. */
function createsExpression(node: Node): node is Call {
  if ((node.type !== 'NewExpression' && node.type !== 'CallExpression') || !isRecord(node['callee']))
    return false
  const { callee } = node
  if (callee['type'] === 'Identifier') return callee['name'] === 'RegExp'
  if (callee['type'] !== 'MemberExpression' || !isRecord(callee['property'])) return false
  return ['match', 'matchAll', 'search'].includes(String(callee['property']['name']))
}

/** The value of a string or template literal, if all of its parts are literals or values of `limits`. */
function textOf(node: Node): string | undefined {
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value']
  if (
    node.type !== 'TemplateLiteral' ||
    !Array.isArray(node['quasis']) ||
    !Array.isArray(node['expressions'])
  ) {
    return undefined
  }
  const values = node['expressions'].map((expression: Node) => limitNamed(expression))
  if (values.includes(undefined)) return undefined
  return node['quasis'].map((part, i) => `${part.value.cooked}${values[i] ?? ''}`).join('')
}

function limitNamed({ type, object, property }: Node): number | undefined {
  if (type !== 'MemberExpression' || !isRecord(object) || !isRecord(property)) return undefined
  if (object['name'] !== 'limits') return undefined
  return Object.entries(limits).find(([name]) => name === property['name'])?.[1]
}

function visitNodes(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) visitNodes(one, visit)
  if (!isRecord(value)) return
  if (isNode(value)) visit(value)
  for (const one of Object.values(value)) if (typeof one === 'object') visitNodes(one, visit)
}

function isNode(value: Record<string, unknown>): value is Node {
  return typeof value['type'] === 'string' && typeof value['start'] === 'number'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
