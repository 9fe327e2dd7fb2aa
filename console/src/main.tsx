import './send-first-request.ts'
import './styles/base.css'
import './styles/button.css'
import './styles/shell.css'
import './styles/grid.css'
import './styles/filter.css'
import './styles/panel.css'
import './styles/manage.css'
import './styles/dialogs.css'
import './styles/media.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { listQuery } from './api/read.ts'
import { followColorScheme } from './lib/color-scheme.ts'
import { loadLanguage } from './lib/language.ts'
import { firstListOf } from './lib/records/first-list.ts'
import { router } from './router.tsx'
import { currentKey } from './session.ts'

const staleMs = 5_000

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The client retries what is worth it. Data is revalidated by ETag, which is cheap.
      retry: false,
      refetchOnWindowFocus: false,
      // Without a connection, a request fails at once and the page says so. With 'online' it would wait without an end.
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: staleMs,
      // The error of the first list is shown without a second request.
      retryOnMount: ({ state }) => Date.now() - state.errorUpdatedAt > staleMs,
    },
  },
})

/**
 * How long the first view waits for its rows. If they come in time, the page is rendered once; otherwise it is shown with
 * an empty grid first.
 */
const rowsWaitMs = 200

async function firstRows(): Promise<void> {
  const first = currentKey() === undefined ? undefined : firstListOf(location)
  if (first !== undefined) await queryClient.prefetchQuery(listQuery(first.name, first.parameters))
}

/** Not awaited by the module: a route that is loaded later imports from this file, which must be evaluated by then. */
async function start(root: HTMLElement): Promise<void> {
  followColorScheme()
  const timeout = new Promise((resolve) => setTimeout(resolve, rowsWaitMs))
  await Promise.all([loadLanguage(), router.load(), Promise.race([firstRows(), timeout])])
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
}

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element "root"')
void start(root)
