import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { suites as benchmarks } from '../../../bench/src/suites.ts'
import { suites as proofs } from '../suites.ts'
import { addResults, fullBound, type Results } from './add-results.ts'
import { proofPage } from './page.ts'
import { pageFile, readProof } from './records.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const proof = readProof()
const records = proof.sections.flatMap((section) => section.records)
const checks = new Map(
  [...Object.values(proofs), ...Object.values(benchmarks)].flat().map(({ name, bound }) => [name, bound]),
)
/** The number with the most characters, which says most: `137,120` of `0 of 137,120`. */
const longestNumber = (text: string) =>
  (text.match(/\d[\d.,]*\d|\d/g) ?? []).toSorted((a, b) => b.length - a.length)[0] ?? ''

it('docs/proof.md is what npm run proof writes', () => {
  expect(readFileSync(pageFile, 'utf8')).toBe(proofPage(proof))
})

it('docs/proof.md has the command, date, commit and machine of every figure, in its row or above the table', () => {
  const texts = proofPage(proof).split('\n## ').slice(1)
  expect(texts).toHaveLength(proof.sections.length)
  const missing = proof.sections.flatMap((section, n) => {
    const [, run = '', recorded = ''] =
      /^Command: `(.*)CHECK`\. Recorded: (.*)\.$/m.exec(texts[n] ?? '') ?? []
    const cells = [...(texts[n] ?? '').matchAll(/^\| .* \| `(.*) \|$/gm)].map(([, cell = '']) => cell)
    expect(cells).toHaveLength(section.records.length)
    return section.records.filter(({ check, command, date, source, commit, machine }, at) => {
      const [ran = '', ...others] = (cells[at] ?? '').split(/`,? ?/)
      const differing = others.join('')
      /** Only a value that the row does not give is that above the table. */
      const isNamed = (value: string, kind: RegExp) =>
        kind.test(differing) ? differing.includes(value) : recorded.includes(value)
      return !(
        (ran === command || (ran === check && run + check === command)) &&
        isNamed(source === undefined ? date : `[${date}](${source})`, /\d{4}-\d\d-\d\d/) &&
        isNamed(commit, /\b[0-9a-f]{8}\b/) &&
        isNamed(machine, /cores|CPUs|PostgreSQL|machine/)
      )
    })
  })
  expect(missing).toEqual([])
})

describe('every figure', () => {
  it('is of a check that exists, once, with its bound', () => {
    expect(records.length).toBeGreaterThan(40)
    expect(records.map(({ check, bound }) => [check, bound])).toEqual(
      records.map(({ check }) => [check, fullBound(checks.get(check) ?? 'no such check')]),
    )
    expect(new Set(records.map(({ check }) => check)).size).toBe(records.length)
  })

  it('has a command that runs the check', () => {
    const wrong = records.filter(
      ({ check, command }) =>
        !/^npm run (?:verify|bench) -- /.test(command) || !command.endsWith(` --only ${check}`),
    )
    expect(wrong).toEqual([])
  })

  it('has a commit, a date and a machine', () => {
    const wrong = records.filter(
      ({ commit, date, machine }) =>
        !/^[0-9a-f]{8}$/.test(commit) || !/^\d{4}-\d\d-\d\d$/.test(date) || machine === '',
    )
    expect(wrong).toEqual([])
  })

  it('is in the document that it names, or from a file of results', () => {
    for (const { figure, source, quoted } of records) {
      if (source === undefined) continue
      const [file = ''] = source.split('#')
      expect(existsSync(join(root, 'docs', file)), file).toBe(true)
      expect(read(`docs/${file}`), `${file} does not state ${quoted}`).toContain(quoted ?? 'nothing')
      expect(quoted, `${figure} is not in what is quoted`).toContain(longestNumber(figure))
    }
  })
})

describe('npm run proof with results', () => {
  const results: Results = {
    suite: 'chaos',
    commit: '0123456789abcdef0123456789abcdef01234567',
    clean: true,
    quick: false,
    at: '2026-12-24T10:00:00.000Z',
    machine: { node: 'v24.21.0', cores: 8 },
    checks: [
      { name: 'chaos_lost', bound: '= 0 lost or doubled', value: '2 of 90,000', state: 'SHORT' },
      { name: 'longest_wait', bound: 'reads ≤ 5 s (quick: no bound)', value: 'reads 3 s', state: 'ok' },
      { name: 'full_disk', bound: 'only 503', value: 'not measured', state: 'FAILED' },
    ],
  }
  const after = addResults(proof, results).sections.flatMap((section) => section.records)
  const named = (name: string, all = after) => all.find(({ check }) => check === name)

  it('replaces what was measured, also by a worse figure', () => {
    expect(named('chaos_lost')).toMatchObject({
      figure: '2 of 90,000',
      met: false,
      commit: '01234567',
      date: '2026-12-24',
      machine: '8 cores, Node 24.21.0',
      command: named('chaos_lost', records)?.command,
    })
    expect(named('longest_wait')).toMatchObject({ figure: 'reads 3 s', bound: 'reads ≤ 5 s', met: true })
    expect(named('chaos_lost')).not.toHaveProperty('source')
    expect(named('longest_wait')).not.toHaveProperty('note')
  })

  it('keeps what was not', () => {
    expect(named('full_disk')).toEqual(named('full_disk', records))
    expect(named('warm_list')).toEqual(named('warm_list', records))
  })

  it('refuses short runs, and runs of no commit', () => {
    expect(() => addResults(proof, { ...results, quick: true })).toThrow('--quick')
    expect(() => addResults(proof, { ...results, clean: false })).toThrow('working tree')
    expect(() => addResults(proof, { ...results, commit: null })).toThrow('working tree')
  })
})
