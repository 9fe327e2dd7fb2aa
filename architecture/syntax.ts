import { parseSync } from 'vite'

export interface Node {
  readonly [key: string]: unknown
  readonly type: string
  readonly start: number
}

export function parsed(file: string, text: string): Node {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  if (!isNode(program)) throw new Error(`${file} has no syntax tree`)
  return program
}

/** Visits every node, and passes those that contain it, the innermost first. */
export function visit(
  node: Node,
  onNode: (node: Node, outer: readonly Node[]) => void,
  outer: readonly Node[] = [],
): void {
  onNode(node, outer)
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) visit(child, onNode, [node, ...outer])
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

export function lineOf(text: string, { start }: Node): number {
  return text.slice(0, start).split('\n').length
}

/** `'x'` of a literal or of a template without values. */
export function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value']
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node['quasis']) || node['quasis'].length !== 1)
    return undefined
  const [quasi] = node['quasis']
  const value = isNode(quasi) ? quasi['value'] : undefined
  return typeof value === 'object' && value !== null && 'cooked' in value ? String(value.cooked) : undefined
}

/** The name of `a.name` and `a['name']`; undefined if it is known only at run time. */
export function propertyOf(member: Node): string | undefined {
  const { property, computed } = member
  if (!isNode(property)) return undefined
  return computed === true ? textOf(property) : String(property['name'])
}
