import '../../styles/mantine.css'
import { createTheme, MantineProvider } from '@mantine/core'
import type { ReactNode } from 'react'
import { useColorScheme } from '../../lib/color-scheme.ts'

/** Locking the scroll of the page would insert a style element, which the Content-Security-Policy forbids. */
const theme = createTheme({
  components: {
    Modal: {
      defaultProps: {
        lockScroll: false,
        transitionProps: { duration: 120 },
        overlayProps: { backgroundOpacity: 0.4 },
        closeButtonProps: { 'aria-label': 'Close' },
      },
    },
    Popover: { defaultProps: { transitionProps: { duration: 80 } } },
    Menu: { defaultProps: { transitionProps: { duration: 80 } } },
  },
})

/** `followColorScheme` sets the attribute of the root element. */
const noRootElement = () => undefined

/** The context of Mantine's components. */
export function Mantine({ children }: { readonly children?: ReactNode }) {
  return (
    <MantineProvider
      theme={theme}
      forceColorScheme={useColorScheme()}
      getRootElement={noRootElement}
      withCssVariables={false}
      withGlobalClasses={false}
    >
      {children}
    </MantineProvider>
  )
}
