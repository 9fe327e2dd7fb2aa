import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { lineOf, type Node, parsed, visit } from './syntax.ts'

/** Evaluates rules of Vale (`.vale/`): those of the types `existence` and `substitution`, with the keys that ours use. */

const root = fileURLToPath(new URL('..', import.meta.url))

interface Rule {
  readonly name: string
  readonly message: string
  readonly pattern: RegExp
  /** By what a substitution finds: what to write instead. */
  readonly swap: readonly (readonly [found: RegExp, instead: string])[]
}

export interface Finding {
  readonly rule: string
  readonly line: number
  readonly found: string
  readonly message: string
}

interface RuleFile {
  readonly extends: 'existence' | 'substitution'
  readonly message: string
  readonly level: 'error'
  readonly ignorecase?: boolean
  readonly nonword?: boolean
  readonly tokens?: readonly string[]
  readonly swap?: Readonly<Record<string, string>>
}

const known = ['extends', 'message', 'level', 'ignorecase', 'nonword', 'tokens', 'swap']

export const rules: readonly Rule[] = globSync('.vale/Quartermaster/*.yml', { cwd: root })
  .toSorted()
  .map((file) => ruleOf(basename(file, '.yml'), parse(readFileSync(join(root, file), 'utf8'))))

function ruleOf(name: string, file: RuleFile): Rule {
  const unknown = Object.keys(file).filter((key) => !known.includes(key))
  if (unknown.length > 0 || !['existence', 'substitution'].includes(file.extends))
    throw new Error(`${name}.yml has what architecture/prose.ts does not evaluate: ${unknown.join(' ')}`)
  const flags = file.ignorecase === true ? 'gi' : 'g'
  const swap = Object.entries(file.swap ?? {})
  // A wrapped list item has several spaces between two words.
  const alternatives = [...(file.tokens ?? []), ...swap.map(([found]) => found)]
    .join('|')
    .replaceAll(' ', ' +')
  return {
    name,
    message: file.message,
    // As in Vale: whole words, unless `nonword` is set.
    pattern: new RegExp(file.nonword === true ? alternatives : `\\b(?:${alternatives})\\b`, flags),
    swap: swap.map(([found, instead]) => [new RegExp(`^(?:${found})$`, 'i'), instead]),
  }
}

/** What the rules find in a Markdown document, by line. */
export function findingsIn(markdown: string): Finding[] {
  const text = proseOf(markdown)
  return rules
    .flatMap(({ name, message, pattern, swap }) =>
      [...text.matchAll(pattern)].map(({ 0: match, index }) => {
        const found = match.replaceAll(/ +/g, ' ')
        const instead = swap.find(([what]) => what.test(found))?.[1]
        const words = instead === undefined ? [found] : [instead, found]
        return {
          rule: name,
          line: text.slice(0, index).split('\n').length + wrapsBefore(markdown, text, index),
          found,
          message: words.reduce((line, word) => line.replace('%s', () => word), message),
        }
      }),
    )
    .toSorted((one, other) => one.line - other.line)
}

/** What the rules find in the texts of a program: strings and templates with several words, and texts of JSX. */
export function findingsInSource(file: string, source: string): Finding[] {
  const findings: Finding[] = []
  visit(parsed(file, source), (node) => {
    const text = messageOf(node)
    if (text?.includes(' ') !== true) return
    findings.push(...findingsIn(text).map((finding) => ({ ...finding, line: lineOf(source, node) })))
  })
  return findings
}

/** The values of a template are as code in a sentence. */
function messageOf(node: Node): string | undefined {
  if (node.type === 'Literal' || node.type === 'JSXText')
    return typeof node['value'] === 'string' ? node['value'] : undefined
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node['quasis'])) return undefined
  return node['quasis'].map((quasi) => quasi.value.cooked).join('***')
}

/** Line ends within paragraphs are spaces in the prose. */
function wrapsBefore(markdown: string, text: string, index: number): number {
  let wraps = 0
  for (let at = 0; at < index; at++) if (markdown[at] === '\n' && text[at] === ' ') wraps++
  return wraps
}

const blank = (text: string) => text.replaceAll(/[^\n]/g, ' ')
const starred = (text: string) => '*'.repeat(text.length)

/** The text with everything else blanked: front matter, code blocks, comments, targets of links. Code in a sentence becomes `***`. */
export function proseOf(markdown: string): string {
  return (
    markdown
      .replaceAll('\r', ' ')
      .replace(/^---\n[\s\S]*?\n---\n/, blank)
      .replaceAll(/^( *)(```+|~~~+)[\s\S]*?\n\1\2 *$/gm, blank)
      .replaceAll(/<!--[\s\S]*?-->/g, blank)
      .replaceAll(/(`+)(?!`)[^\n]*?[^`]\1(?!`)/g, starred)
      .replaceAll(/\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)/g, (target) => `]${' '.repeat(target.length - 1)}`)
      // A paragraph is one line; list items, rows of tables, headings and quotes begin their own.
      .replaceAll(/(?<=\S *)\n(?! *(?:\n|[-*+|#>] |\d+\. |\|))/g, ' ')
  )
}
