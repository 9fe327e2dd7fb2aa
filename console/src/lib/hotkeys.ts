import { useEffect, useRef } from 'react'

export type Hotkeys = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** Calls the handler of a key, unless a person types into a field, a dialog is open, or a modifier is pressed. */
export function useHotkeys(hotkeys: Hotkeys): void {
  const latest = useRef(hotkeys)
  latest.current = hotkeys
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (isTyping(event) || document.querySelector('[aria-modal="true"]') !== null) return
      const handler = latest.current[event.key]
      if (handler === undefined) return
      handler(event)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

/** Looks into shadow roots: the filter editor is in one. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath()
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.matches('textarea, select')) return true
  if (target.matches('input:not([type=checkbox]):not([type=radio])')) return true
  // Enter and Space on a button or link belong to it.
  const pressed = event.key === 'Enter' || event.key === ' '
  return pressed && target.closest('button, a, [role=menuitem], [role=option], [role=tab]') !== null
}
