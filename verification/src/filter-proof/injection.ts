import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Check } from '../check.ts'
import { grouped } from '../progress.ts'
import { type Fixture, proofFixture, withClient } from './fixture.ts'
import { sendOddRequests } from './odd-requests.ts'
import { proveOn } from './proof.ts'
import { marker } from './rows.ts'
import { objection } from './statement-grammar.ts'

/**
 * No text of a request becomes part of a statement. Checks the statements in the database's log, which has every text as it
 * was sent, and in pg_stat_statements, which replaces constants by `$n`.
 */
export const noInjection: Check = {
  name: 'no_injection',
  bound: '0 foreign statements',
  async run(context) {
    const fixture = await proofFixture(context)
    // If this check runs alone, it must send requests first.
    if (fixture.client.sent < 1_000) await proveOn(fixture, context, context.size(10_000, 2_000))
    const failed = await sendOddRequests(fixture, context, context.size(10_000, 700))
    const normalised = await normalisedStatements(fixture)
    const { texts, lines, errors } = await loggedStatements(fixture)
    const foreign: string[] = []
    const all = new Set([...texts, ...normalised])
    for (const text of all) {
      const withMarker = text.toLowerCase().includes(marker)
        ? 'contains text of a request or a row'
        : undefined
      const wrong = withMarker ?? objection(text)
      if (wrong !== undefined) foreign.push(`${wrong.slice(0, 1500)}\n  ${text.slice(0, 1500)}`)
    }
    // Nearly every request is a new list and causes a statement. Fewer statements would mean an incomplete log.
    const isComplete = lines >= fixture.client.sent * 0.5 && normalised.length > 0
    const note = [
      `${grouped(fixture.client.sent)} requests, ${grouped(lines)} statements logged, ` +
        `${grouped(texts.size)} texts, ${grouped(normalised.length)} in pg_stat_statements`,
      ...(isComplete ? [] : ['the log does not contain all statements']),
      ...errors.slice(0, 5),
      ...failed.slice(0, 5),
      ...foreign.slice(0, 3),
    ].join('\n')
    return {
      value: `${grouped(foreign.length)} of ${grouped(all.size)} texts`,
      samples: all.size,
      ok: foreign.length === 0 && errors.length === 0 && failed.length === 0 && isComplete,
      note,
    }
  },
}

async function normalisedStatements(fixture: Fixture): Promise<string[]> {
  return withClient(fixture.service.postgres.url, async (client) => {
    const { rows } = await client.query<{ query: string }>(
      `select s.query from pg_stat_statements s join pg_roles r on r.oid = s.userid
       where r.rolname in ('quartermaster_server', 'quartermaster_writer')`,
    )
    return rows.map(({ query }) => query)
  })
}

interface Logged {
  readonly texts: ReadonlySet<string>
  readonly lines: number
  /** Errors that PostgreSQL logged. There must be none. */
  readonly errors: readonly string[]
}

/** The first line of a log entry has the prefix and the severity; further lines begin with a tab. */
async function loggedStatements(fixture: Fixture): Promise<Logged> {
  const file = createReadStream(join(fixture.service.postgres.folder, 'log'), {
    start: fixture.logStart,
    encoding: 'utf8',
  })
  const texts = new Set<string>()
  const errors: string[] = []
  let lines = 0
  let current: string | undefined
  const finish = () => {
    if (current !== undefined) texts.add(current)
    current = undefined
  }
  for await (const line of createInterface({ input: file, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.startsWith('\t')) {
      if (current !== undefined) current += `\n${line.slice(1)}`
      continue
    }
    finish()
    const [, severity, text] = /^at quartermaster(?: export)?: (\w+): {2}(.*)$/.exec(line) ?? []
    if (severity === 'ERROR' || severity === 'FATAL' || severity === 'PANIC') errors.push(line)
    const statement = /^(?:statement|execute [^:]+): (.*)$/.exec(text ?? '')?.[1]
    if (severity !== 'LOG' || statement === undefined) continue
    current = statement
    lines += 1
  }
  finish()
  return { texts, lines, errors }
}
