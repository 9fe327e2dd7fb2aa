import { Link } from '@tanstack/react-router'
import { lazy, memo, Suspense } from 'react'
import type { Access } from '../../api/access.ts'
import type { CollectionName } from '../../api/catalog.ts'
import { isResource } from '../../api/read.ts'
import { grouped } from '../../lib/format.ts'
import { fieldsParameter } from '../../lib/records/columns.ts'
import type { RecordsView } from '../../lib/records/use-records.ts'

import { stringifySearch } from '../../lib/search.ts'
import { t } from '../../texts/texts.ts'
import { Button, IconButton } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { withMantine } from '../shell/with-mantine.ts'

/** Loaded after the first view. */
const menus = () => import('./menus.ts')
const ColumnMenu = lazy(withMantine(async () => (await menus()).ColumnMenu))
const CopyMenu = lazy(withMantine(async () => (await menus()).CopyMenu))
const ExportMenu = lazy(withMantine(async () => (await menus()).ExportMenu))
const ViewsMenu = lazy(withMantine(async () => (await menus()).ViewsMenu))

interface HeadProps
  extends Pick<
    RecordsView,
    | 'name'
    | 'collection'
    | 'search'
    | 'list'
    | 'fields'
    | 'names'
    | 'go'
    | 'toggleRequest'
    | 'refresh'
    | 'access'
  > {
  readonly isFetching: boolean
  readonly isReady: boolean
}

/** The title of a list, and what can be done with it. */
export const ListHead = memo(function ListHead(props: HeadProps) {
  const { name, collection, search, list, fields, names, go, access } = props
  const { toggleRequest, refresh, isFetching, isReady } = props
  const createLabel = createLabelOf(name, access)
  const mayImport = access?.write.includes(name) === true
  const isRequestShown = search.panel === 'request'
  return (
    <header className="page-head">
      <h1>{t.pages[name]}</h1>
      <span className="total">{list !== undefined && grouped(list.meta.total)}</span>
      <span className="spacer" />
      {createLabel !== undefined && (
        <Button size="xs" icon={<Icon name="plus" size={14} />} onClick={() => go({ dialog: 'create' })}>
          <span className="label">{createLabel}</span>
        </Button>
      )}
      <IconButton
        variant="default"
        className="refresh"
        aria-label={t.common.refresh}
        title={t.common.refresh}
        aria-busy={isFetching}
        onClick={refresh}
      >
        <Icon name="rotate" size={14} />
      </IconButton>
      {isReady ? (
        <Suspense fallback={<MenuPlaces hasExport={isResource(name)} />}>
          <ColumnMenu
            collection={collection}
            names={names}
            onChange={(next) => go({ fields: fieldsParameter(collection, next) })}
          />
          <ViewsMenu
            page={name}
            search={stringifySearch({ ...search, record: undefined, dialog: undefined })}
          />
          <CopyMenu fields={fields} rows={list?.data} />
          {isResource(name) && (
            <ExportMenu
              collection={collection}
              parameters={search}
              fields={fields}
              rows={list?.data}
              total={list?.meta.total}
            />
          )}
        </Suspense>
      ) : (
        <MenuPlaces hasExport={isResource(name)} />
      )}
      {mayImport && (
        <Link
          className="button"
          data-size="xs"
          data-variant="default"
          data-with-icon=""
          to="/import"
          search={{ resource: name }}
        >
          <Icon name="upload" size={14} />
          <span className="label">{t.list.import}</span>
        </Link>
      )}
      <Button
        size="xs"
        variant={isRequestShown ? 'light' : 'default'}
        icon={<Icon name="code" size={14} />}
        aria-pressed={isRequestShown}
        onClick={toggleRequest}
      >
        <span className="label">{t.list.request}</span>
      </Button>
    </header>
  )
})

/** As wide as the menus, so that nothing moves when they are loaded. */
function MenuPlaces({ hasExport }: { readonly hasExport: boolean }) {
  return (['columns', 'star', 'copy', ...(hasExport ? ['download' as const] : [])] as const).map(
    (icon, index) => (
      <Button key={icon} size="xs" variant="default" icon={<Icon name={icon} size={14} />} disabled>
        <span className="label">{[t.list.columns, t.list.views, t.copy.copy, t.export.export][index]}</span>
      </Button>
    ),
  )
}

/** Undefined if the key may not create one. */
export function createLabelOf(name: CollectionName, access: Access | undefined): string | undefined {
  const mayCreate = isResource(name) ? access?.create.includes(name) : access?.manage
  return mayCreate === true && creatable.includes(name) ? t.record.createLabel(name) : undefined
}

const creatable: readonly CollectionName[] = ['product', 'partner', 'company', 'key', 'field', 'webhook']
