import type { Check, Context } from '../check.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Checker, type Watched } from './checker.ts'
import { type Breakage, type Fixture, startFixture } from './fixture.ts'
import { Growing } from './oracle.ts'
import { anyRead, consecutivePages } from './readers.ts'
import { write } from './writers.ts'

const readers = 64
/** Writers per account, in the order of the fixture: 8 for ledgers, which write one at a time, and 8 concurrent ones for growing accounts. */
const writers = [2, 2, 2, 2, 5, 3]
/** The check fails after this time. */
const hoursMax = 2
/** The first fault is usually among the first 200 responses if they are stale, and 1,500 if they are torn. */
const brokenResponsesMax = 30_000

/** The name of the fault that the checker counts. */
type Fault = Extract<Breakage, 'stale' | 'torn'>

/** Every response, from any process, contains all writes that were acknowledged before the request was sent, and comes from one version. */
export const neverStale: Check = {
  name: 'never_stale',
  bound: '= 0 stale, 0 torn',
  async run(context) {
    const { checker, writes, duplicated } = await watch(context, context.size(1_000_000, 4_000))
    const { checked, stale, torn, faults } = checker
    const seenAll = Math.min(checker.lists, checker.records, checker.missing, checker.notModified) > 100
    return {
      value: `${stale} stale, ${torn + duplicated} torn of ${grouped(checked)}`,
      samples: Math.min(checked, writes),
      ok: stale + torn + duplicated === 0 && seenAll,
      note: [`${checker.summary()}, ${grouped(writes)} writes`, ...faults].join('\n'),
    }
  },
}

/** Runs the same checker on deliberately broken builds, each until it detects the first stale or torn response. */
export const brokenIsCaught: Check = {
  name: 'broken_is_caught',
  bound: '≥ 1 stale, ≥ 1 torn',
  async run(context) {
    const early = await watch(context, brokenResponsesMax, 'stale')
    const mixed = await watch(context, brokenResponsesMax, 'torn')
    const { stale, checked } = early.checker
    return {
      value: `${stale} stale of ${grouped(checked)}, ${mixed.checker.torn} torn of ${grouped(mixed.checker.checked)}`,
      samples: Math.min(checked, mixed.checker.checked),
      ok: stale >= 1 && mixed.checker.torn >= 1,
      note: [early, mixed].map(({ checker }) => checker.faults[0] ?? 'no fault was found').join('\n'),
    }
  },
}

interface Watch {
  readonly checker: Checker
  readonly writes: number
  /** Ids that two responses showed with different names. */
  readonly duplicated: number
}

async function watch(context: Context, responses: number, breakage?: Fault): Promise<Watch> {
  const fixture = await startFixture(context, breakage)
  try {
    return await readAndWrite(context, fixture, responses, breakage)
  } finally {
    await fixture.stop()
  }
}

async function readAndWrite(
  context: Context,
  fixture: Fixture,
  responses: number,
  breakage?: Fault,
): Promise<Watch> {
  const { client, ports, ownerUrl, accounts } = fixture
  const checker = new Checker(client, ports)
  const progress = context.progress('checked responses', responses)
  const until = performance.now() + hoursMax * 3_600_000
  let failed = false
  let writes = 0
  const isFound = () => breakage !== undefined && checker[breakage] > 0
  const isOver = () => failed || isFound() || checker.checked >= responses
  const reading = async (reader: number) => {
    const random = new Random(context.seed, 41, reader)
    while (!isOver()) {
      const account = random.pick(accounts)
      if (random.chance(0.02))
        await checker.checkInOrder(account, consecutivePages(account.oracle, random), random)
      else await checker.check(account, anyRead(account.oracle, random), random)
      progress.step()
      if (performance.now() > until) throw new Error(`not done after ${hoursMax} hours`)
    }
  }
  const writing = async (account: Watched, writer: number) => {
    const random = new Random(context.seed, 42, writer)
    const onWrite = () => (writes += 1)
    await write(account, { client, ports, ownerUrl, checker, random, writer, isOver, onWrite })
  }
  const tasks = [
    ...Array.from({ length: readers }, (_, reader) => reading(reader)),
    ...accounts
      .flatMap((account, at) => Array.from({ length: writers[at] ?? 0 }, () => account))
      .map((account, writer) => writing(account, writer)),
  ]
  // The first failure ends all tasks, and is thrown when the others have ended.
  for (const task of tasks) task.catch(() => (failed = true))
  const ends = await Promise.allSettled(tasks)
  progress.end()
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  const growing = accounts.map(({ oracle }) => oracle).filter((oracle) => oracle instanceof Growing)
  return { checker, writes, duplicated: growing.reduce((sum, { duplicated }) => sum + duplicated, 0) }
}
