import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../config/config.ts'
import { program } from '../program.ts'
import { allCommands, commandTree } from './command-tree.ts'
import { completionScript } from './completion-scripts.ts'
import { manPage } from './man-page.ts'
import { shells } from './shells.ts'

const root = commandTree(program(loadConfig({})))
const commands = allCommands(root)

/** What bash suggests for the last of these words. */
function suggested(...words: string[]): string[] {
  const array = words.map((word) => `'${word}'`).join(' ')
  const script = `${completionScript('bash', root)}
COMP_WORDS=(quartermaster ${array}); COMP_CWORD=${words.length}; _quartermaster; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n')
}

describe('completion', () => {
  it('in bash suggests commands, options, and their choices', () => {
    expect(suggested('acc')).toEqual(['account'])
    expect(suggested('account', 'cr')).toEqual(['create'])
    expect(suggested('operator', 'token', 'create', '--sc')).toEqual(['--scopes'])
    expect(suggested('export', '--account', 'acme', '')).toEqual(
      expect.arrayContaining(['partner', '--filter']),
    )
    expect(suggested('usage', '--top', '')).toEqual(['requests', 'errors', 'ms'])
    expect(suggested('usage', '--json', '--top', 'e')).toEqual(['errors'])
    // A value that is the name of a command.
    expect(suggested('account', 'create', 'serve', '--if')).toEqual(['--if-not-exists'])
    expect(suggested('import', '--rejects', '')).toEqual([''])
  })

  it.each(shells)('for %s has every command and option', (shell) => {
    const script = completionScript(shell, root)
    expect(commands.length).toBeGreaterThan(50)
    for (const { path, options } of commands) {
      expect(script).toContain(path)
      for (const { names } of options)
        expect(script).toContain(shell === 'fish' ? `-l ${names.at(-1)?.slice(2)}` : names.at(-1))
    }
  })
})

describe('the man page', () => {
  const page = manPage(root, '1.2.3')

  it('has every command and option, and only macros of man(7)', () => {
    const text = page.replaceAll('\\-', '-')
    for (const { path, children, options } of commands.slice(1)) {
      if (children.length > 0) continue
      expect(text).toContain(`\n.B ${path}`)
      for (const { term, names } of options)
        if (!names.includes('--help')) expect(text).toContain(`.B ${term}\n`)
    }
    const macros = new Set(page.split('\n').flatMap((line) => /^\.[A-Z]+/.exec(line) ?? []))
    expect([...macros].toSorted()).toEqual(
      ['.B', '.BR', '.I', '.PP', '.RE', '.RI', '.RS', '.SH', '.SS', '.TH', '.TP'].toSorted(),
    )
  })
})
