import { Button, Progress } from '@mantine/core'
import { useRef, useState } from 'react'
import type { Collection } from '../../api/catalog.ts'
import { problemFrom } from '../../api/exchange.ts'
import { isResource } from '../../api/read.ts'
import { bytesText, grouped } from '../../lib/format.ts'
import { type ExportFormat, type ExportProgress, exportTo } from '../../lib/records/export.ts'
import type { ListParameters } from '../../lib/records/records-search.ts'
import { urlOf } from '../../lib/records/request-text.ts'
import { Icon } from '../icon.tsx'

interface ExportPartProps {
  readonly collection: Collection
  readonly parameters: ListParameters
  readonly total: number | undefined
}

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly progress: ExportProgress }
  | { readonly kind: 'done'; readonly text: string }
  | { readonly kind: 'failed'; readonly text: string }

/** Exports every record of the list, not only this page. */
export function ExportPart({ collection, parameters, total }: ExportPartProps) {
  const [state, setState] = useState<State>({ kind: 'idle' })
  const abort = useRef<AbortController>(undefined)
  if (!isResource(collection.name)) return null
  const start = async (format: ExportFormat) => {
    abort.current = new AbortController()
    setState({ kind: 'running', progress: { records: 0, bytes: 0, total } })
    const { filter, fields, search } = parameters
    try {
      const records = await exportTo({
        url: urlOf(location.origin, collection, { filter, fields, search }),
        format,
        fileName: `${collection.plural}.${format}`,
        signal: abort.current.signal,
        onProgress: (progress) =>
          setState({ kind: 'running', progress: { ...progress, total: progress.total ?? total } }),
      })
      setState({ kind: 'done', text: `${grouped(records)} ${collection.plural} exported.` })
    } catch (error) {
      const isCancelled = error instanceof DOMException && error.name === 'AbortError'
      setState(isCancelled ? { kind: 'idle' } : { kind: 'failed', text: problemFrom(error).detail })
    }
  }
  const isRunning = state.kind === 'running'
  return (
    <>
      <h3>Export {total === undefined ? '' : `all ${grouped(total)} ${collection.plural}`}</h3>
      <div className="row">
        {(['csv', 'ndjson'] as const).map((format) => (
          <Button
            key={format}
            size="xs"
            variant="default"
            disabled={isRunning}
            leftSection={<Icon name="download" size={14} />}
            onClick={() => void start(format)}
          >
            Export {format.toUpperCase()}
          </Button>
        ))}
        {isRunning && (
          <Button size="xs" variant="subtle" color="gray" onClick={() => abort.current?.abort()}>
            Cancel
          </Button>
        )}
      </div>
      <div className="export-state" role="status">
        {state.kind === 'running' && <Running {...state.progress} />}
        {state.kind === 'done' && <span>{state.text}</span>}
        {state.kind === 'failed' && <span className="bad">{state.text}</span>}
      </div>
    </>
  )
}

function Running({ records, bytes, total }: ExportProgress) {
  const share = total === undefined || total === 0 ? 0 : Math.min((records / total) * 100, 100)
  return (
    <>
      <Progress value={share} size="sm" aria-label="Export progress" />
      <span className="dim">
        {grouped(records)} {total !== undefined && `of ${grouped(total)}`} records, {bytesText(bytes)}
      </span>
    </>
  )
}
