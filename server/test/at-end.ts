import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const stops: (() => unknown)[] = []

/** Registers how to stop something that a test file has started. `setup.ts` calls it after the last test of the file. */
export function atEnd(stop: () => unknown): void {
  stops.push(stop)
}

export function stopAtEnd<T extends { stop(): unknown }>(started: T): T {
  atEnd(() => started.stop())
  return started
}

/** Stops everything that is registered, what was started last first. An error does not keep the rest from being stopped. */
export async function stopAll(): Promise<void> {
  const errors: unknown[] = []
  for (const stop of stops.splice(0).toReversed()) {
    try {
      await stop()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, `not stopped: ${errors.map(String).join('; ')}`)
}

/** A folder that is removed at the end. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `quartermaster-${name}-`))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
