import type { KeySet } from './number-map.ts'
import type { Key, SourceRow } from './values.ts'

export type ResourceName = 'product' | 'partner' | 'company'
export const resourceNames: readonly ResourceName[] = ['product', 'partner', 'company']

export type Pages = AsyncIterable<readonly SourceRow[]>

/** One kind of record in the system from which a connector reads. Its pages are in the order of keys. */
export interface Source {
  readonly resource: ResourceName
  /** Rarely changed records are polled with the late scan only: each poll costs the source a call. */
  readonly isHot: boolean
  /** Rows that were changed at this second of the source's clock, or later. */
  since(time: number): Pages
  /** Rows whose key follows this one, in one page; all are read with undefined first. The page is the last one if it is not full. */
  after(key: Key | undefined): Promise<{ readonly rows: readonly SourceRow[]; readonly isLast: boolean }>
  byKeys(keys: readonly Key[]): Pages
  keys(): Promise<KeySet>
  /** Which of the keys no record has any more, and which records exist but may not be read. */
  missing(keys: readonly Key[]): Promise<{ readonly gone: readonly Key[]; readonly hidden: readonly Key[] }>
  /** Records whose values changed without a trace in the record itself, such as stock. `isLate`: by a late scan. */
  touched(time: number, isLate: boolean): Promise<readonly Key[]>
  /** Which of these records of the connector's user were born here, and under which id. */
  born?(keys: readonly Key[]): Promise<readonly { readonly id: number; readonly key: Key }[]>
}

export interface Clock {
  /** Seconds of the source's clock, which may differ from ours. */
  now(): number
}
