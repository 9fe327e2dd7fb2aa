import { appendFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/**
 * Ends the output of a suite with what failed, and one line that people and programs can read:
 * `unit: 120 passed, 0 failed`. Failures come last because a CI log may be truncated at its start.
 */
export default class SummaryReporter implements Reporter {
  readonly #suite: string

  /** On the command line, vitest passes no options: the suite is then the package under test. */
  constructor({
    suite = process.env['npm_package_name']?.split('/').at(-1) ?? 'tests',
  }: { suite?: string } = {}) {
    this.#suite = suite
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const failures = errors.map((error) => `outside of tests: ${firstLine(error)}`)
    const failedFiles = new Set<string>()
    let passed = 0
    let skipped = 0
    for (const module of modules) {
      const fail = (title: string, error: { readonly message: string } | undefined) => {
        failures.push(`${module.relativeModuleId} > ${title}: ${firstLine(error)}`)
        failedFiles.add(module.moduleId)
      }
      for (const error of module.errors()) fail('setup', error)
      for (const suite of module.children.allSuites())
        for (const error of suite.errors()) fail(suite.fullName, error)
      for (const test of module.children.allTests()) {
        const { state, errors: causes } = test.result()
        if (state === 'passed') passed++
        else if (state === 'failed') fail(test.fullName, causes?.[0])
        else skipped++
      }
    }
    for (const failure of failures) process.stdout.write(`failed: ${failure}\n`)
    const { FAILED_FILES: list } = process.env
    // An error outside of tests is of no file that could be run again.
    if (list !== undefined && errors.length === 0)
      for (const file of failedFiles) appendFileSync(list, `${file}\n`)
    process.stdout.write(
      `${this.#suite}: ${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
    )
  }
}

const firstLine = (error: { readonly message: string } | undefined) => error?.message.split('\n', 1)[0]
