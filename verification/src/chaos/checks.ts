import type { Check, Context, Outcome } from '../check.ts'
import { grouped } from '../progress.ts'
import { primaryKilled, switchover } from './faults/processes.ts'
import { diskFull } from './faults/resources.ts'
import { type Trial, trialOf } from './fixture.ts'
import { wrongReadiness } from './report/readiness.ts'
import { counted, isFailed, isRead, isWrite, longest, median, seconds } from './report/statistics.ts'

/** A check that judges the trial: all faults of the schedule, under load. */
function ofTrial(name: string, bound: string, judge: (trial: Trial, context: Context) => Outcome): Check {
  return {
    name,
    bound,
    needs: ['namespaces'],
    run: async (context) => judge(await trialOf(context), context),
  }
}

/** With --quick, times are measured and not judged: they depend on the machine, on which other proofs may run. */
function timed(name: string, bound: string, judge: (trial: Trial) => Outcome): Check {
  return ofTrial(name, `${bound} (quick: no bound)`, (trial, { quick }) => {
    const outcome = judge(trial)
    return { ...outcome, ok: outcome.ok || quick }
  })
}

export const chaosLost = ofTrial('chaos_lost', '= 0 lost or doubled', ({ ledger, happened, events }) => ({
  value: `${ledger.lost} lost, ${ledger.doubled} doubled of ${grouped(ledger.acknowledged)}`,
  samples: Math.min(happened.length, ledger.acknowledged),
  ok: ledger.lost + ledger.doubled === 0 && ledger.acknowledged > 0,
  note: [
    `${happened.length} faults: ${counted(happened.map(({ name }) => name))}`,
    `${grouped(events.length)} requests; ${counted(events.filter(isFailed).map(({ status, code }) => `${status} ${code}`))}`,
    ...ledger.findings.slice(0, 10),
  ].join('\n'),
}))

export const chaosStale = ofTrial('chaos_stale', '= 0', ({ events, ledger, happened }) => {
  const wrong = events.flatMap(({ wrong: what }) => what ?? [])
  const read = events.filter((event) => isRead(event) && event.status > 0 && event.status < 500)
  return {
    value: `${wrong.length + ledger.feedDifferences} of ${grouped(read.length)} answers`,
    samples: Math.min(happened.length, read.length),
    ok: wrong.length + ledger.feedDifferences === 0 && read.length > 0,
    note: wrong.slice(0, 10).join('\n'),
  }
})

export const writeBackKilled = timed('write_back_killed', 'p50 ≤ 20 s, max ≤ 30 s', ({ happened }) => {
  const times = happened.filter(({ name }) => name === primaryKilled.name).map(({ backMs }) => backMs)
  return timesOutcome(times, 20_000, 30_000)
})

export const writeBackSwitchover = timed('write_back_switchover', 'p50 ≤ 3 s, max ≤ 8 s', ({ happened }) => {
  const times = happened.filter(({ name }) => name === switchover.name).map(({ gapMs }) => gapMs)
  return timesOutcome(times, 3_000, 8_000)
})

function timesOutcome(times: readonly number[], medianMax: number, max: number): Outcome {
  const [middle, most] = [median(times), Math.max(...times)]
  return {
    value: `p50 ${seconds(middle)}, max ${seconds(most)}, n ${times.length}`,
    samples: times.length,
    ok: times.length > 0 && middle <= medianMax && most <= max,
    note: times.map((ms) => seconds(ms)).join(', '),
  }
}

export const longestWait = timed('longest_wait', 'reads ≤ 5 s, writes ≤ 10 s', ({ events, happened }) => {
  const [read, write] = [longest(events.filter(isRead)), longest(events.filter(isWrite))]
  const during = (at: number) => happened.findLast(({ beganAt }) => beganAt <= at)?.name ?? 'no fault'
  const slow = events
    .filter((event) => (isRead(event) && event.ms > 5_000) || (isWrite(event) && event.ms > 10_000))
    .map(({ at, kind, status, code }) => `${kind} ${status} ${code ?? ''} in ${during(at)}`)
  return {
    value: `reads ${seconds(read?.ms ?? 0)}, writes ${seconds(write?.ms ?? 0)}`,
    samples: Math.min(happened.length, events.filter(isRead).length, events.filter(isWrite).length),
    ok: slow.length === 0,
    note: [read, write]
      .map((event) => `${JSON.stringify(event)} in ${during(event?.at ?? 0)}`)
      .concat(slow.length > 0 ? counted(slow) : [])
      .join('\n'),
  }
})

export const readyzWrong = timed('readyz_wrong', '≤ 3 s each', ({ events, happened }) => {
  const { readyMs, unreadyMs, when } = wrongReadiness(events)
  const marks = happened.map(
    ({ name, beganAt }) => `${new Date(beganAt).toISOString().slice(11, 19)} ${name}`,
  )
  return {
    value: `200 ${seconds(readyMs)}, 503 ${seconds(unreadyMs)}`,
    samples: Math.min(happened.length, events.filter(({ kind }) => kind === 'ready').length),
    ok: readyMs <= 3_000 && unreadyMs <= 3_000,
    note: `longest at ${when}; ${marks.join(', ')}`,
  }
})

/** Nothing lost is part of `chaos_lost`; that the cluster became healthy again without a person, of every fault. */
export const fullDisk = ofTrial('full_disk', 'only 503, writes back', ({ events, happened }) => {
  const full = happened.filter(({ name }) => name === diskFull.name)
  const failed = full.flatMap(({ beganAt, settledAt }) =>
    events.filter((event) => event.at >= beganAt && event.at <= settledAt && isFailed(event)),
  )
  const unclear = failed.filter(({ status }) => status !== 503)
  const back = Math.max(0, ...full.map(({ settledAt, endedAt }) => settledAt - endedAt))
  return {
    value: `${unclear.length} of ${failed.length} unclear, back ${seconds(back)}`,
    samples: full.length,
    ok: full.length > 0 && unclear.length === 0,
    note: counted(failed.map(({ kind, status, code }) => `${kind} ${status} ${code}`)),
  }
})
