import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { ManageGate } from './components/shell/manage-gate.tsx'
import { PageError } from './components/shell/page-error.tsx'
import { Root } from './components/shell/root.tsx'
import { withMantine } from './components/shell/with-mantine.ts'
import type { ChangesSearch } from './lib/changes/since.ts'
import type { ImportSearch } from './lib/import/import-search.ts'
import { landingOf, readStoredSelf } from './lib/keys/stored-self.ts'
import type { RecordsSearch } from './lib/records/records-search.ts'
import { parseSearch, stringifySearch, textsOf } from './lib/search.ts'
import type { UsageSearch } from './lib/usage/usage-search.ts'
import { RecordsPage } from './routes/records.tsx'
import { currentKey } from './session.ts'
import { t } from './texts/texts.ts'

const rootRoute = createRootRoute({
  component: Root,
  notFoundComponent: () => (
    <div className="state">
      <h2>{t.app.noPage}</h2>
      <p>{t.app.choosePage}</p>
    </div>
  ),
})

const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    // Without a key, the sign-in is shown; what the key may read is known after it.
    if (currentKey() !== undefined) throw redirect({ to: landingOf(readStoredSelf())[1], replace: true })
  },
})

/** Values stay as they were typed: the service validates them, and its error is shown. */
const validateSearch = (search: Record<string, unknown>): RecordsSearch => textsOf(search)

const productsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/products',
  validateSearch,
  component: () => <RecordsPage key="product" name="product" search={productsRoute.useSearch()} />,
})

const partnersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/partners',
  validateSearch,
  component: () => <RecordsPage key="partner" name="partner" search={partnersRoute.useSearch()} />,
})

const companiesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/companies',
  validateSearch,
  component: () => <RecordsPage key="company" name="company" search={companiesRoute.useSearch()} />,
})

const keysRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/keys',
  validateSearch,
  component: () => (
    <ManageGate name="key">
      <RecordsPage key="key" name="key" search={keysRoute.useSearch()} />
    </ManageGate>
  ),
})

const fieldsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/fields',
  validateSearch,
  component: () => (
    <ManageGate name="field">
      <RecordsPage key="field" name="field" search={fieldsRoute.useSearch()} />
    </ManageGate>
  ),
})

const webhooksRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks',
  validateSearch,
  component: () => (
    <ManageGate name="webhook">
      <RecordsPage key="webhook" name="webhook" search={webhooksRoute.useSearch()} />
    </ManageGate>
  ),
})

const deliveriesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/deliveries',
  validateSearch,
  component: () => (
    <ManageGate name="delivery">
      <RecordsPage key="delivery" name="delivery" search={deliveriesRoute.useSearch()} />
    </ManageGate>
  ),
})

const auditRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/audit',
  validateSearch,
  component: () => (
    <ManageGate name="audit">
      <RecordsPage key="audit" name="audit" search={auditRoute.useSearch()} />
    </ManageGate>
  ),
})

const requestsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/requests',
  validateSearch,
  component: () => (
    <ManageGate name="request">
      <RecordsPage key="request" name="request" search={requestsRoute.useSearch()} />
    </ManageGate>
  ),
})

const changesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/changes',
  validateSearch: (search: Record<string, unknown>): ChangesSearch => textsOf(search),
  component: lazyRouteComponent(withMantine(async () => (await import('./routes/changes.tsx')).ChangesPage)),
})

const importRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/import',
  validateSearch: (search: Record<string, unknown>): ImportSearch => textsOf(search),
  component: lazyRouteComponent(withMantine(async () => (await import('./routes/import.tsx')).ImportPage)),
})

const usageRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/usage',
  validateSearch: (search: Record<string, unknown>): UsageSearch => textsOf(search),
  component: lazyRouteComponent(withMantine(async () => (await import('./routes/usage.tsx')).UsagePage)),
})

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    indexRoute,
    productsRoute,
    partnersRoute,
    companiesRoute,
    keysRoute,
    fieldsRoute,
    webhooksRoute,
    deliveriesRoute,
    auditRoute,
    requestsRoute,
    changesRoute,
    importRoute,
    usageRoute,
  ]),
  basepath: '/console',
  defaultErrorComponent: PageError,
  parseSearch,
  stringifySearch,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
