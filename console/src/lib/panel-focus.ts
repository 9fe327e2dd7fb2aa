import { type RefObject, useLayoutEffect, useRef } from 'react'

/**
 * Moves the focus to the heading of a side panel that a person has opened, and back to the list when it closes. A page that is
 * loaded with an open panel keeps the focus at its start.
 */
export function usePanelFocus(): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    const opened = heading.current
    if (navigator.userActivation.hasBeenActive) opened?.focus({ preventScroll: true })
    return () => {
      const panel = opened?.closest('.panel')
      if (panel?.contains(document.activeElement) !== true) return
      const grid = document.querySelector('[role=grid]')
      if (grid instanceof HTMLElement) grid.focus({ preventScroll: true })
    }
  }, [])
  return heading
}

/** After its form has closed, a person goes on in the panel. */
export function focusPanel(): void {
  const heading = document.querySelector('.panel-head h2')
  if (heading instanceof HTMLElement) heading.focus({ preventScroll: true })
}
