import type { Reporter, TestModule } from 'vitest/node'

/** Closes a suite with one line that people and machines read alike: `unit: 120 passed, 0 failed`. */
export default class ClosingLine implements Reporter {
  readonly #suite: string

  /** Named on the command line it gets no suite: then it is the package that is tested. */
  constructor({
    suite = process.env['npm_package_name']?.split('/').at(-1) ?? 'tests',
  }: { suite?: string } = {}) {
    this.#suite = suite
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0
    let failed = errors.length
    let skipped = 0
    for (const module of modules) {
      failed += module.errors().length
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        else if (state === 'failed') failed++
        else skipped++
      }
    }
    process.stdout.write(
      `${this.#suite}: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
    )
  }
}
