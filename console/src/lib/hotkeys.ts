import { useEffect, useRef } from 'react'

export type Hotkeys = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** Calls the handler of a key, unless a person types into a field, uses a popover, a menu or a dialog, or holds a modifier. */
export function useHotkeys(hotkeys: Hotkeys): void {
  const latest = useRef(hotkeys)
  latest.current = hotkeys
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (isTyping(event) || isInPopover(event) || document.querySelector('[aria-modal="true"]') !== null)
        return
      const handler = latest.current[event.key]
      if (handler === undefined) return
      handler(event)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

/** Such as Esc, which closes the popover and not the side panel. The path also contains elements that are removed by now. */
function isInPopover(event: KeyboardEvent): boolean {
  return event
    .composedPath()
    .some((element) => element instanceof Element && element.matches('[role=dialog], [role=menu]'))
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
