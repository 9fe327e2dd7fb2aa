import '../../styles/mantine.css'
import { createTheme, MantineProvider } from '@mantine/core'
import { type ReactNode, useMemo } from 'react'
import { useColorScheme } from '../../lib/color-scheme.ts'
import { t } from '../../texts/texts.ts'

/** Locking the scroll of the page would insert a style element, which the Content-Security-Policy forbids. */
const themeOf = () =>
  createTheme({
    components: {
      Modal: {
        defaultProps: {
          lockScroll: false,
          transitionProps: { duration: 120 },
          overlayProps: { backgroundOpacity: 0.4 },
          closeButtonProps: { 'aria-label': t.common.close },
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
  const theme = useMemo(themeOf, [])
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
