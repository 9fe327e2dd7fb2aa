import { allCommands, type CommandNode } from './command-tree.ts'
import type { Shell } from './shells.ts'

/** Completes commands, options and their choices; file names wherever a value has none. */
export function completionScript(shell: Shell, root: CommandNode): string {
  switch (shell) {
    case 'bash':
      return bash(root)
    case 'zsh':
      return zsh(root)
    case 'fish':
      return fish(root)
    default:
      return shell satisfies never
  }
}

const lastOf = (path: string) => path.slice(path.lastIndexOf(' ') + 1)
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The words that can follow a command: its commands, the choices of its arguments, and its options. */
function wordsAfter(node: CommandNode): string[] {
  return [
    ...node.children.map(({ path }) => lastOf(path)),
    ...node.arguments.flatMap(({ choices }) => choices),
    ...node.options.map(({ names }) => names.at(-1) ?? ''),
  ]
}

/** Patterns of `case`, in which a path begins with a space unless it is that of the program. */
const pattern = (path: string) => (path === '' ? "''" : quoted(` ${path}`))

function valuePatterns({ path, options }: CommandNode, withChoices: boolean): [string, readonly string[]][] {
  return options
    .filter(({ takesValue, choices }) => takesValue && choices.length > 0 === withChoices)
    .flatMap(({ names, choices }) =>
      names.map((name): [string, readonly string[]] => [
        quoted(`${path === '' ? '' : ` ${path}`} ${name}`),
        choices,
      ]),
    )
}

function bash(root: CommandNode): string {
  const nodes = allCommands(root)
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(` ${path}`))
  const choices = nodes
    .flatMap((node) => valuePatterns(node, true))
    .map(([name, words]) => `    ${name}) words=${quoted(words.join(' '))} ;;`)
  const values = nodes.flatMap((node) => valuePatterns(node, false)).map(([name]) => name)
  const words = nodes.map(
    (node) => `      ${pattern(node.path)}) words=${quoted(wordsAfter(node).join(' '))} ;;`,
  )
  return `# bash completion for quartermaster: source <(quartermaster completion bash)
_quartermaster() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
    ${known.join(' | ')}) path="$path $word" ;;
    esac
  done
  case "$path $prev" in
${choices.join('\n')}
    ${values.join(' | ')}) return ;;
    *)
      case "$path" in
${words.join('\n')}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _quartermaster quartermaster
`
}

/** `_describe` shows what each word does. A colon in a word separates it from that. */
function zsh(root: CommandNode): string {
  const nodes = allCommands(root)
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(` ${path}`))
  const choices = nodes
    .flatMap((node) => valuePatterns(node, true))
    .map(([name, words]) => `    ${name}) compadd -- ${words.map(quoted).join(' ')}; return ;;`)
  const values = nodes.flatMap((node) => valuePatterns(node, false)).map(([name]) => name)
  const described = (word: string, text: string) => quoted(`${word.replaceAll(':', '\\:')}:${text}`)
  const words = nodes.map((node) => {
    const all = [
      ...node.children.map(({ path, description }) => described(lastOf(path), description)),
      ...node.arguments.flatMap(({ choices: some, description }) =>
        some.map((one) => described(one, description)),
      ),
      ...node.options.map(({ names, description }) => described(names.at(-1) ?? '', description)),
    ]
    return `    ${pattern(node.path)}) candidates=(${all.join(' ')}) ;;`
  })
  return `#compdef quartermaster
# zsh completion for quartermaster: source <(quartermaster completion zsh)
_quartermaster() {
  local at='' word
  local -a candidates
  for word in "\${words[@]:1:CURRENT-2}"; do
    case "$at $word" in
    ${known.join(' | ')}) at="$at $word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${choices.join('\n')}
    ${values.join(' | ')}) _files; return ;;
  esac
  case "$at" in
${words.join('\n')}
  esac
  _describe quartermaster candidates || _files
}
if [ "\${funcstack[1]-}" = _quartermaster ]; then _quartermaster "$@"; else compdef _quartermaster quartermaster; fi
`
}

function fish(root: CommandNode): string {
  const nodes = allCommands(root)
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(` ${path}`))
  const lines = nodes.flatMap((node) => {
    const at = `complete -c quartermaster -n ${quoted(`__quartermaster_at ${quoted(node.path === '' ? '' : ` ${node.path}`)}`)}`
    return [
      ...node.children.map(
        ({ path, description }) => `${at} -f -a ${lastOf(path)} -d ${quoted(description)}`,
      ),
      ...node.arguments.flatMap(({ choices, description }) =>
        choices.length === 0 ? [] : [`${at} -f -a ${quoted(choices.join(' '))} -d ${quoted(description)}`],
      ),
      ...node.options.map(({ names, description, takesValue, choices }) => {
        const flags = names.map((name) =>
          name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
        )
        const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesValue ? ' -r' : ''
        return `${at} ${flags.join(' ')}${value} -d ${quoted(description)}`
      }),
    ]
  })
  return `# fish completion for quartermaster: quartermaster completion fish | source
function __quartermaster_at
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case ${known.join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`
}
