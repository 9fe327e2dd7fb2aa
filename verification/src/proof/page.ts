import type { Proof, ProofRecord, ProofSection } from './records.ts'

/** The text of docs/proof.md. */
export function proofPage({ sections }: Proof): string {
  const records = sections.flatMap((section) => section.records)
  const missed = records.filter(({ met }) => !met)
  return `${[
    '<!-- Written by `npm run proof` from docs/proof.json. -->',
    '# Proof',
    `Of ${records.length} figures, ${missed.length} miss their bound and are marked. The line above a table has its command, date, commit and machine; rows name what differs. A linked date leads to the document that recorded the figure.`,
    `The code has changed since, and all machines were small and shared with PostgreSQL and the load. Repeat what matters to you: \`npm run proof -- verification/out/SUITE.json\` writes the figures of a full run into this page.`,
    ...sections.flatMap(sectionText),
  ].join('\n\n')}\n`
}

/** What most records of a section have in common, so that only the others repeat it. */
interface Common {
  readonly command: string
  readonly date: string
  readonly commit: string
  readonly machine: string
}

function sectionText({ title, text, picture, records }: ProofSection): string[] {
  const common: Common = {
    command: mostOf(records.map(commandOf)),
    date: mostOf(records.map(dateOf)),
    commit: mostOf(records.map(({ commit }) => commit)),
    machine: mostOf(records.map(({ machine }) => machine)),
  }
  const shown = picture === undefined ? [] : [`![${picture.description}](${picture.file})`]
  const origin = `Command: \`${common.command} CHECK\`. Recorded: ${common.date}, ${common.commit}, ${common.machine}.`
  const rows = records.map((record) => row(record, common)).join('\n')
  return [
    `## ${title}`,
    ...(text === undefined ? [] : [text]),
    origin,
    ...shown,
    `| Claim | Figure | Bound | Check |\n|---|---|---|---|\n${rows}`,
  ]
}

function row(record: ProofRecord, common: Common): string {
  const { claim, check, figure, bound, met, note, command, commit, machine } = record
  const measured = [
    `**${figure}**`,
    ...(met ? [] : ['misses its bound']),
    ...(note === undefined ? [] : [note]),
  ]
  const run = [
    `\`${commandOf(record) === common.command ? check : command}\``,
    ...(dateOf(record) === common.date ? [] : [dateOf(record)]),
    ...(commit === common.commit ? [] : [commit]),
    ...(machine === common.machine ? [] : [machine]),
  ]
  const cells = [claim, measured.join('; '), bound, run.join(', ')]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** Without the name of the check, which every command ends with. */
const commandOf = ({ command, check }: ProofRecord) => command.slice(0, -check.length).trim()

const dateOf = ({ date, source }: ProofRecord) => (source === undefined ? date : `[${date}](${source})`)

/** The value that occurs most often; the first of several. */
function mostOf(values: readonly string[]): string {
  const times = (value: string) => values.filter((other) => other === value).length
  return values.toSorted((a, b) => times(b) - times(a))[0] ?? ''
}
