/** Views that a person saved in this browser: a name and the parameters of a list. Never a key. */
export interface SavedView {
  readonly name: string
  readonly page: string
  readonly search: string
}

const storageName = 'quartermaster.views'
const viewsMax = 100

export function readViews(storage: Pick<Storage, 'getItem'> = localStorage): readonly SavedView[] {
  try {
    const parsed: unknown = JSON.parse(storage.getItem(storageName) ?? '[]')
    return Array.isArray(parsed) ? parsed.filter(isView) : []
  } catch {
    return []
  }
}

/** Replaces the view of the same name and page. */
export function saveView(
  view: SavedView,
  storage: Pick<Storage, 'getItem' | 'setItem'> = localStorage,
): void {
  const others = readViews(storage).filter(({ name, page }) => name !== view.name || page !== view.page)
  storage.setItem(storageName, JSON.stringify([...others, view].slice(-viewsMax)))
}

export function removeView(
  view: SavedView,
  storage: Pick<Storage, 'getItem' | 'setItem'> = localStorage,
): void {
  const others = readViews(storage).filter(({ name, page }) => name !== view.name || page !== view.page)
  storage.setItem(storageName, JSON.stringify(others))
}

function isView(value: unknown): value is SavedView {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['name', 'page', 'search'].every((name) => typeof Reflect.get(value, name) === 'string')
  )
}
