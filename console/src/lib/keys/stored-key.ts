/** The API key of this tab in session storage, which ends with the tab. */
export const keyStorageName = 'quartermaster.key'

export function readStoredKey(): string | undefined {
  return sessionStorage.getItem(keyStorageName) ?? undefined
}
