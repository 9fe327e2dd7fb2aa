import '../styles/import.css'
import { Button, NativeSelect } from '@mantine/core'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Columns } from '../components/import/columns-table.tsx'
import { DropZone } from '../components/import/drop-zone.tsx'
import { PreviewView } from '../components/import/preview-view.tsx'
import { Done, Running } from '../components/import/result-view.tsx'
import { ProblemView } from '../components/problem-view.tsx'
import { grouped } from '../lib/format.ts'
import { type ImportView, type ResourceName, useImport } from '../lib/import/use-import.ts'
import { usePageTitle } from '../lib/page-title.ts'
import { t } from '../texts/texts.ts'

const route = getRouteApi('/import')
const resources = [
  { value: 'product', to: '/products' },
  { value: 'partner', to: '/partners' },
  { value: 'company', to: '/companies' },
] as const

/** A file of records: its columns, what it would change, and what was rejected. */
export function ImportPage() {
  usePageTitle(t.pages.import)
  const { resource } = route.useSearch()
  const chosen = resources.find(({ value }) => value === resource) ?? resources[0]
  const navigate = useNavigate()
  return (
    <>
      <header className="page-head">
        <h1>{t.pages.import}</h1>
        <NativeSelect
          size="xs"
          aria-label={t.common.records}
          data={resources.map(({ value }) => ({ value, label: t.pages[value] }))}
          value={chosen.value}
          onChange={(event) => void navigate({ to: '/import', search: { resource: event.target.value } })}
        />
        <span className="spacer" />
        <Link to={chosen.to}>{t.import.open(t.nouns[chosen.value].many)}</Link>
      </header>
      <ImportOf key={chosen.value} resource={chosen.value} />
    </>
  )
}

function ImportOf({ resource }: { readonly resource: ResourceName }) {
  const view = useImport(resource)
  const { step, opened, problem } = view
  return (
    <div className="import">
      {problem !== undefined && <ProblemView problem={problem} />}
      {opened === undefined ? (
        <DropZone
          fault={step.kind === 'file' ? step.fault : undefined}
          onFile={(chosen) => void view.open(chosen)}
        />
      ) : step.kind === 'running' ? (
        <Running progress={step.progress} total={opened.file.rows.length} onCancel={view.cancel} />
      ) : step.kind === 'done' ? (
        <Done
          done={step}
          header={opened.file.header}
          fileName={opened.file.name}
          total={opened.file.rows.length}
          onAgain={view.startAgain}
          onResume={() => void view.run(opened)}
        />
      ) : (
        <Prepared view={view} opened={opened} />
      )}
    </div>
  )
}

interface PreparedProps {
  readonly view: ImportView
  readonly opened: NonNullable<ImportView['opened']>
}

/** The columns, and below them the preview once it was requested. */
function Prepared({ view, opened }: PreparedProps) {
  const { step, fault, collection } = view
  const { file, mapping } = opened
  const total = file.rows.length
  const preview = step.kind === 'preview' ? step.preview : undefined
  const isNothingToDo =
    preview !== undefined && preview.checked === total && preview.inserts + preview.changes === 0
  return (
    <>
      <p className="row">
        <b>{file.name}</b>
        <span className="dim">{t.import.rows(total, grouped(total))}</span>
        <Button size="compact-xs" variant="subtle" onClick={view.startAgain}>
          {t.import.chooseAnother}
        </Button>
      </p>
      <Columns
        file={file}
        mapping={mapping}
        collection={collection}
        keys={view.keys}
        onChange={view.change}
      />
      {fault !== undefined && (
        <p className="bad" role="alert">
          {fault}
        </p>
      )}
      {preview !== undefined && <PreviewView preview={preview} total={total} />}
      <div className="row import-actions">
        {preview === undefined ? (
          <Button
            size="sm"
            disabled={fault !== undefined || total === 0}
            loading={step.kind === 'checking'}
            onClick={() => void view.check(opened)}
          >
            {t.import.preview}
          </Button>
        ) : (
          <Button size="sm" disabled={isNothingToDo} onClick={() => void view.run(opened)}>
            {t.import.importRows(grouped(total))}
          </Button>
        )}
        {isNothingToDo && <span className="dim">{t.import.nothing}</span>}
      </div>
    </>
  )
}
