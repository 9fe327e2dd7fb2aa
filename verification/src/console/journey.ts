import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { errors, type Page } from 'playwright-core'
import type { Check } from '../check.ts'
import { messageOf } from '../runner.ts'
import { type ConsoleFixture, consoleFixture, type PageOptions } from './fixture.ts'

export interface Session {
  readonly page: Page
  readonly fixture: ConsoleFixture
}

export type Steps = Readonly<Record<string, (session: Session) => Promise<void>>>

const pictures = fileURLToPath(new URL('../../../verification/out/', import.meta.url))

/** Steps that a person takes on one page, one after the other. The first that fails ends the journey. */
export function journey(
  name: string,
  steps: Steps,
  options: Omit<PageOptions, 'key'> & { signedIn?: boolean } = {},
): Check {
  const count = Object.keys(steps).length
  return {
    name,
    bound: `${count} of ${count} steps`,
    dependsOnTime: true,
    async run(context) {
      const fixture = await consoleFixture(context)
      const { signedIn = true, ...rest } = options
      return await fixture.withPage({ ...rest, ...(signedIn ? { key: fixture.key } : {}) }, async (page) => {
        let passed = 0
        for (const [title, step] of Object.entries(steps)) {
          try {
            await step({ page, fixture })
            passed += 1
          } catch (error) {
            mkdirSync(pictures, { recursive: true })
            await page.screenshot({ path: `${pictures}console-${name}.png` })
            const messages = fixture.messages.slice(-10).join('\n')
            const note = `${title}: ${messageOf(error)}\nat ${page.url()}; see verification/out/console-${name}.png\n${messages}`
            // The page may only be slow.
            if (error instanceof errors.TimeoutError) throw new Error(note, { cause: error })
            return { value: `${passed} of ${count} steps`, samples: count, ok: false, note }
          }
        }
        return { value: `${passed} of ${count} steps`, samples: passed, ok: true }
      })
    },
  }
}

export const rows = (page: Page) => page.getByRole('grid').getByRole('row')
export const grouped = (count: number) => count.toLocaleString('en')

export function expectEqual(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`expected ${JSON.stringify(expected)}, but found ${JSON.stringify(actual)}`)
  }
}

/** The parameter of the address of the page. */
export function parameterOf(page: Page, name: string): string | null {
  return new URL(page.url()).searchParams.get(name)
}

/** Waits until the address of the page has this parameter; null: until it has none. */
export async function untilParameter(page: Page, name: string, value: string | null): Promise<void> {
  await page.waitForURL((url) => url.searchParams.get(name) === value)
}
