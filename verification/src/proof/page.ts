import type { Proof, ProofRecord, ProofSection } from './records.ts'

/** The text of docs/proof.md. */
export function proofPage({ sections }: Proof): string {
  const records = sections.flatMap((section) => section.records)
  const missed = records.filter(({ met }) => !met)
  return `${[
    '<!-- Written by `npm run proof` from docs/proof.json. -->',
    '# Proof',
    `You can run the command behind every figure. Of ${records.length} figures, ${missed.length} miss their bound and are marked.`,
    `- **Bound** is what the check requires. A check that misses its bound prints \`SHORT\`, and its command exits with 1.
- **Recorded** has the date and the commit, and the machine unless the section names it. With a link, the commit is the one that recorded the figure in that document; without, the one that was measured.
- The code has changed since. All machines were small and shared: the load generator and PostgreSQL use the same cores. Repeat what matters to you.
- \`npm run proof -- verification/out/SUITE.json\` replaces figures with those of a full run, and writes this page again.`,
    ...sections.flatMap(sectionText),
  ].join('\n\n')}\n`
}

function sectionText({ title, text, picture, records }: ProofSection): string[] {
  const shown = picture === undefined ? [] : [`![${picture.description}](${picture.file})`]
  const machines = new Set(records.map(({ machine }) => machine))
  // A machine that measured the whole section is named once.
  const [only = ''] = machines
  const shared = machines.size === 1 ? [`Machine: ${only}.`] : []
  const rows = records.map((record) => row(record, machines.size > 1)).join('\n')
  const table = `| Claim | Figure | Bound | Command | Recorded |\n|---|---|---|---|---|\n${rows}`
  return [`## ${title}`, [text, ...shared].join(' '), ...shown, table]
}

function row(record: ProofRecord, withMachine: boolean): string {
  const { claim, figure, bound, met, note, command, commit, date, machine, source } = record
  const measured = [
    `**${figure}**`,
    ...(met ? [] : ['misses its bound']),
    ...(note === undefined ? [] : [note]),
  ]
  const recorded = source === undefined ? date : `[${date}](${source})`
  const when = [recorded, commit, ...(withMachine ? [machine] : [])].join(', ')
  const cells = [claim, measured.join('; '), bound, `\`${command}\``, when]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
