import { globSync, writeFileSync } from 'node:fs'

/** Variables of a program whose clock is read from a file. A step of the clock does not change how much time has passed. */
export function clockVariables(file: string): Record<string, string> {
  return {
    LD_PRELOAD: globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0] ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
}

/** Sets the clocks that read this file: the seconds by which they differ. */
export function setClock(file: string, seconds: number): void {
  writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`, { mode: 0o644 })
}
