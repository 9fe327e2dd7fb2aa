import './styles/mantine.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/grid.css'
import './styles/filter.css'
import './styles/panel.css'
import './styles/manage.css'
import './styles/dialogs.css'
import { createTheme, MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './router.tsx'

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

const queryClient = new QueryClient({
  // The client retries what is worth it. Data is revalidated by ETag, which is cheap.
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false, staleTime: 5_000 } },
})

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element "root"')
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
