import type { Check, Context } from '../check.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Checker, type Watched } from './checker.ts'
import { type Breakage, type Fixture, startFixture } from './fixture.ts'
import { Growing } from './oracle.ts'
import { anyRead } from './readers.ts'
import { write } from './writers.ts'

const readers = 64
/** By account, in the order of the fixture: 8 that take turns in ledgers, 8 at once in accounts that grow. */
const writers = [2, 2, 2, 2, 5, 3]
/** A run that gets nowhere ends, and is short. */
const hoursMax = 2

/** Whatever process is asked, an answer shows every write acknowledged before it was asked for, and one version. */
export const neverStale: Check = {
  name: 'never_stale',
  bound: '= 0 stale, 0 torn',
  async run(context) {
    const { checker, writes, doubled } = await watch(context, context.size(1_000_000, 20_000))
    const { checked, stale, torn, faults } = checker
    const seenAll = Math.min(checker.lists, checker.records, checker.missing, checker.notModified) > 100
    return {
      value: `${stale} stale, ${torn + doubled} torn of ${grouped(checked)}`,
      ok: stale + torn + doubled === 0 && seenAll,
      note: [`${checker.summary()}, ${grouped(writes)} writes`, ...faults].join('\n'),
    }
  },
}

/** The same checker on builds that are wrong: what it does not find there, its zero above would not tell either. */
export const brokenIsCaught: Check = {
  name: 'broken_is_caught',
  bound: '≥ 1 stale, ≥ 1 torn',
  async run(context) {
    const answers = context.size(30_000, 6_000)
    const early = await watch(context, answers, 'stale')
    const mixed = await watch(context, answers, 'torn')
    return {
      value: `${early.checker.stale} stale, ${mixed.checker.torn} torn of ${grouped(answers)} each`,
      ok: early.checker.stale >= 1 && mixed.checker.torn >= 1,
      note: [early, mixed].map(({ checker }) => checker.faults[0] ?? 'nothing was found').join('\n'),
    }
  },
}

interface Watch {
  readonly checker: Checker
  readonly writes: number
  /** Ids that two answers showed under different names. */
  readonly doubled: number
}

async function watch(context: Context, answers: number, breakage?: Breakage): Promise<Watch> {
  const fixture = await startFixture(context, breakage)
  try {
    return await readAndWrite(context, fixture, answers)
  } finally {
    await fixture.stop()
  }
}

async function readAndWrite(context: Context, fixture: Fixture, answers: number): Promise<Watch> {
  const { client, ports, ownerUrl, accounts } = fixture
  const checker = new Checker(client, ports)
  const progress = context.progress('checked answers', answers)
  const until = performance.now() + hoursMax * 3_600_000
  let failed = false
  let writes = 0
  const isOver = () => failed || checker.checked >= answers
  const reading = async (reader: number) => {
    const random = new Random(context.seed, 41, reader)
    while (!isOver()) {
      const account = random.pick(accounts)
      await checker.check(account, anyRead(account.oracle, random), random)
      progress.step()
      if (performance.now() > until) throw new Error(`not done after ${hoursMax} hours`)
    }
  }
  const writing = async (account: Watched, writer: number) => {
    const random = new Random(context.seed, 42, writer)
    const onWrite = () => (writes += 1)
    await write(account, { client, ports, ownerUrl, checker, random, writer, isOver, onWrite })
  }
  const lanes = [
    ...Array.from({ length: readers }, (_, reader) => reading(reader)),
    ...accounts
      .flatMap((account, at) => Array.from({ length: writers[at] ?? 0 }, () => account))
      .map((account, writer) => writing(account, writer)),
  ]
  // The first that fails ends them all, and is told once the others are done.
  for (const lane of lanes) lane.catch(() => (failed = true))
  const ends = await Promise.allSettled(lanes)
  progress.end()
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  const growing = accounts.map(({ oracle }) => oracle).filter((oracle) => oracle instanceof Growing)
  return { checker, writes, doubled: growing.reduce((sum, { doubled }) => sum + doubled, 0) }
}
