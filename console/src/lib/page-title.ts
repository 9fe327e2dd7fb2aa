import { useEffect } from 'react'
import { accountOf } from './account.ts'

/** The title of the tab: what is open first, then the page and the account. */
export function usePageTitle(...parts: readonly (string | undefined)[]): void {
  const title = [...parts.filter((part) => part !== undefined), accountOf(location)].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}
