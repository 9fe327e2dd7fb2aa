import type { CollectionName } from '../../api/catalog.ts'

/** Widths that a person gave to columns, in pixels. They are kept in this browser, for each list. */
export type Widths = Readonly<Record<string, number>>

export const widthMin = 48
export const widthMax = 1_200

export function readWidths(page: CollectionName, storage: Pick<Storage, 'getItem'> = localStorage): Widths {
  try {
    const parsed: unknown = JSON.parse(storage.getItem(storageName(page)) ?? '{}')
    if (typeof parsed !== 'object' || parsed === null) return {}
    return Object.fromEntries(
      Object.entries(parsed).filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
    )
  } catch {
    return {}
  }
}

export function saveWidths(
  page: CollectionName,
  widths: Widths,
  storage: Pick<Storage, 'setItem'> = localStorage,
): void {
  storage.setItem(storageName(page), JSON.stringify(widths))
}

/** With another width of one column; undefined: as wide as its contents again. */
export function withWidth(widths: Widths, name: string, width: number | undefined): Widths {
  const { [name]: _, ...others } = widths
  if (width === undefined) return others
  return { ...others, [name]: Math.round(Math.min(Math.max(width, widthMin), widthMax)) }
}

function storageName(page: CollectionName): string {
  return `quartermaster.widths.${page}`
}
