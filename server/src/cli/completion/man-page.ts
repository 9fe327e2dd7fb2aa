import { exitCodes } from '../command-error.ts'
import { allCommands, type CommandNode } from './command-tree.ts'

const exitTexts: Readonly<Record<keyof typeof exitCodes, string>> = {
  failed: 'failed',
  not_found: 'the account, key or field does not exist',
  exists: 'it already exists, or the name is retired',
  unavailable: 'the database is unavailable; try again',
  refused: 'refused, with the reason',
  usage: 'the command line or a file is wrong',
}

/** The page of section 1, in the macros of man(7). */
export function manPage(root: CommandNode, version: string): string {
  const commands = allCommands(root).filter(({ children, path }) => children.length === 0 && path !== '')
  const groups = Map.groupBy(root.children, ({ group }) => group)
  const sections = [...groups].map(([group, members]) => {
    const paths = members.flatMap(allCommands).map(({ path }) => path)
    return `.SS ${escaped(group)}\n${commands
      .filter(({ path }) => paths.includes(path))
      .map(commandText)
      .join('')}`
  })
  const codes = [
    [2, 'import: some rows were rejected'] as const,
    ...Object.entries(exitTexts).map(([name, text]) => [codeOf(name), text] as const),
  ]
    .toSorted(([one], [other]) => one - other)
    .map(([code, text]) => `.TP\n.B ${code}\n${escaped(text)}\n`)
  return `.TH QUARTERMASTER 1 "" "quartermaster ${version}" "User Commands"
.SH NAME
quartermaster \\- ${escaped(root.description)}
.SH SYNOPSIS
.B quartermaster
.I command
.RI [ options ]
.SH COMMANDS
Every command has
.BR \\-\\-help .
With
.BR \\-\\-json ,
results and errors are one line of JSON.
${sections.join('')}.SH EXIT STATUS
.TP
.B 0
done
${codes.join('')}.SH ENVIRONMENT
.TP
.B DATABASE_URL
the database, as postgres://user:password@host:5432/name
.TP
.B DATABASE_OWNER_URL
the same database with the owner of the tables as user, for all commands except serve (default: DATABASE_URL)
.PP
.B quartermaster config
prints all settings.
.SH SEE ALSO
The documents are in the folder docs of the package, and at /docs of every deployment.
`
}

function codeOf(name: string): number {
  return Object.entries(exitCodes).find(([one]) => one === name)?.[1] ?? 0
}

function commandText({ path, description, arguments: given, options }: CommandNode): string {
  const required = options.filter(({ isRequired }) => isRequired).map(({ term }) => term)
  const usage = [path, ...given.map(({ term }) => term), ...required].join(' ')
  const choices = given
    .filter(({ choices: some }) => some.length > 0)
    .map(({ term, choices: some }) => item(term, some.join(', ')))
  const listed = options
    .filter(({ names }) => !names.includes('--help'))
    .map((option) => item(option.term, option.description))
  const inner = [...choices, ...listed]
  return `.TP\n.B ${escaped(usage)}\n${escaped(description)}\n${inner.length === 0 ? '' : `.RS\n${inner.join('')}.RE\n`}`
}

function item(term: string, text: string): string {
  return `.TP\n.B ${escaped(term)}\n${escaped(text)}\n`
}

/** A backslash, a hyphen, and a period or quote at the beginning of a line have a meaning. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .split('\n')
    .map((line) => (/^[.']/.test(line) ? `\\&${line}` : line))
    .join('\n')
}
