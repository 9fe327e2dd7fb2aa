import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command, OnlyNode } from '../only-node.ts'

/** What is replaced in a block because it differs on this machine: addresses, ports, passwords, paths. Each must be in the block. */
export type Replacements = Readonly<Record<string, string>>

/** Variables that belong to one bash, not to its user. */
const ownVariables = new Set(['_', 'PWD', 'OLDPWD', 'SHLVL'])

/** A terminal of the operator: variables that a block exports are set for the following blocks. */
export class Shell {
  readonly folder: string
  readonly #machine: OnlyNode
  readonly #blocksRun: Set<string>
  readonly #variables: Map<string, string>

  /** Adds each block that it runs to `blocksRun`. */
  constructor(
    machine: OnlyNode,
    folder: string,
    blocksRun: Set<string>,
    variables: Iterable<readonly [string, string]> = [],
  ) {
    this.#machine = machine
    this.folder = folder
    this.#blocksRun = blocksRun
    this.#variables = new Map(variables)
  }

  /** Another terminal, in which the same variables are set now. */
  another(): Shell {
    return new Shell(this.#machine, this.folder, this.#blocksRun, this.#variables)
  }

  set(name: string, value: string): void {
    this.#variables.set(name, value)
  }

  variable(name: string): string {
    return this.#variables.get(name) ?? ''
  }

  /** Runs a block, all of whose commands must succeed. Returns its output: stdout, then stderr. */
  async run(block: string, replacements: Replacements = {}): Promise<string> {
    const { code, output } = await this.#bash('set -euo pipefail', block, replacements)
    if (code !== 0) throw new Error(`This block exited with ${code}:\n${block}\n${output}`)
    return output
  }

  /** Runs a block that reports what is wrong, so that its commands may fail. */
  async diagnose(block: string, replacements: Replacements = {}): Promise<string> {
    const { output } = await this.#bash('set +e -u', block, replacements)
    return output
  }

  /** Starts a block that does not end by itself. */
  start(block: string, replacements: Replacements = {}): Command {
    this.#blocksRun.add(block)
    return this.#machine.start(replaced(block, replacements), this.folder, this.#environment())
  }

  async #bash(
    options: string,
    block: string,
    replacements: Replacements,
  ): Promise<{ code: number | null; output: string }> {
    this.#blocksRun.add(block)
    const file = join(this.folder, '.variables')
    const script = `${options}\n${replaced(block, replacements)}\nenv -0 >'${file}'\n`
    const command = this.#machine.start(script, this.folder, this.#environment())
    command.closeStdin()
    const code = await command.ended
    if (code === 0) this.#readVariables(file)
    return { code, output: `${command.stdout}${command.stderr}` }
  }

  #readVariables(file: string): void {
    this.#variables.clear()
    for (const entry of readFileSync(file, 'utf8').split('\0')) {
      const at = entry.indexOf('=')
      if (at > 0 && !ownVariables.has(entry.slice(0, at)))
        this.#variables.set(entry.slice(0, at), entry.slice(at + 1))
    }
  }

  #environment(): Record<string, string> {
    return Object.fromEntries(this.#variables)
  }
}

export function replaced(block: string, replacements: Replacements): string {
  let text = block
  for (const [from, to] of Object.entries(replacements)) {
    if (!text.includes(from)) throw new Error(`There is no ${from} to replace in this block:\n${block}`)
    text = text.replaceAll(from, to)
  }
  return text
}

/** Throws unless the output of a block contains all of these. */
export function expectOutput(output: string, ...patterns: readonly RegExp[]): void {
  for (const pattern of patterns) {
    if (!pattern.test(output))
      throw new Error(`${pattern} is missing in this output:\n${output.slice(-4000)}`)
  }
}
