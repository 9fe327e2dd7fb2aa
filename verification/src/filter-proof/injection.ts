import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Check } from '../check.ts'
import { grouped } from '../progress.ts'
import { type Fixture, proofFixture } from './fixture.ts'
import { markersIn } from './markers.ts'
import { sendOddRequests } from './odd-requests.ts'
import { proveOn } from './proof.ts'

/**
 * No value of a request becomes part of a statement. Requests have texts, numbers and times with a marker, and the database's log has
 * every statement as it was sent.
 */
export const noInjection: Check = {
  name: 'no_injection',
  bound: '0 with a marker',
  async run(context) {
    const fixture = await proofFixture(context)
    // If this check runs alone, it must send requests first.
    if (fixture.client.sent < 1_000) await proveOn(fixture, context, context.size(10_000, 2_000))
    const failed = await sendOddRequests(fixture, context, context.size(10_000, 700))
    const { texts, lines, errors } = await loggedStatements(fixture)
    const foreign = [...texts].filter((text) => markersIn(text).length > 0)
    // Nearly every request is a new list and causes a statement. Fewer statements would mean an incomplete log.
    const isComplete = lines >= fixture.client.sent * 0.5
    const accepted = Object.entries(fixture.marked).map(([name, count]) => `${grouped(count)} with a ${name}`)
    const note = [
      `${grouped(fixture.client.sent)} requests, accepted: ${accepted.join(', ')}; ${grouped(lines)} statements logged`,
      ...(isComplete ? [] : ['the log does not contain all statements']),
      ...errors.slice(0, 5),
      ...failed.slice(0, 5),
      ...foreign
        .slice(0, 3)
        .map((text) => `contains ${markersIn(text).join(' and ')}: ${text.slice(0, 1500)}`),
    ].join('\n')
    return {
      value: `${grouped(foreign.length)} of ${grouped(texts.size)} texts`,
      samples: Math.min(texts.size, ...Object.values(fixture.marked)),
      ok: foreign.length === 0 && errors.length === 0 && failed.length === 0 && isComplete,
      note,
    }
  },
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
