import { useSyncExternalStore } from 'react'

/** The colours that a person chose in this browser, otherwise those of the system. Style sheets select by the attribute. */

export type ColorScheme = 'light' | 'dark'

const storageName = 'mantine-color-scheme-value'
const system = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()
let current = preferred()

function preferred(): ColorScheme {
  const chosen = localStorage.getItem(storageName)
  if (chosen === 'light' || chosen === 'dark') return chosen
  return system.matches ? 'dark' : 'light'
}

/** Shows the preferred colours, now and whenever the preference of the system or of another tab changes. */
export function followColorScheme(): void {
  system.addEventListener('change', show)
  addEventListener('storage', show)
  show()
}

export function chooseColorScheme(scheme: ColorScheme): void {
  localStorage.setItem(storageName, scheme)
  show()
}

function show(): void {
  current = preferred()
  document.documentElement.dataset['mantineColorScheme'] = current
  for (const listener of listeners) listener()
}

export function useColorScheme(): ColorScheme {
  return useSyncExternalStore(subscribe, () => current)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
