import { useRef, useState } from 'react'
import type { Collection } from '../../api/catalog.ts'
import { problemFrom } from '../../api/exchange.ts'
import { t } from '../../texts/texts.ts'
import { grouped } from '../format.ts'
import { type ExportFormat, type ExportProgress, exportTo } from './export.ts'
import type { ListParameters } from './records-search.ts'
import { urlOf } from './request-text.ts'

export type ExportState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly progress: ExportProgress }
  | { readonly kind: 'done'; readonly text: string }
  | { readonly kind: 'failed'; readonly text: string }

/** Exports every record of a list into a file, and reports how far it is. */
export function useExport(collection: Collection, parameters: ListParameters, total: number | undefined) {
  const [state, setState] = useState<ExportState>({ kind: 'idle' })
  const abort = useRef<AbortController>(undefined)
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
      setState({ kind: 'done', text: t.export.exported(grouped(records), t.nouns[collection.name].many) })
    } catch (error) {
      const isCancelled = error instanceof DOMException && error.name === 'AbortError'
      setState(isCancelled ? { kind: 'idle' } : { kind: 'failed', text: problemFrom(error).detail })
    }
  }
  return { state, start, cancel: () => abort.current?.abort() }
}
