import { Button, Progress } from '@mantine/core'
import type { Collection } from '../../api/catalog.ts'
import { isResource } from '../../api/read.ts'
import { bytesText, grouped } from '../../lib/format.ts'
import type { ExportProgress } from '../../lib/records/export.ts'
import type { ListParameters } from '../../lib/records/records-search.ts'
import { useExport } from '../../lib/records/use-export.ts'
import { t } from '../../texts/texts.ts'
import { Icon } from '../icon.tsx'

interface ExportPartProps {
  readonly collection: Collection
  readonly parameters: ListParameters
  readonly total: number | undefined
}

/** Exports every record of the list, not only this page. */
export function ExportPart({ collection, parameters, total }: ExportPartProps) {
  const { state, start, cancel } = useExport(collection, parameters, total)
  if (!isResource(collection.name)) return null
  const isRunning = state.kind === 'running'
  return (
    <>
      <h3>
        {t.export.title(
          total === undefined ? '' : t.export.allOf(grouped(total), t.nouns[collection.name].many),
        )}
      </h3>
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
            {t.export.title(format.toUpperCase())}
          </Button>
        ))}
        {isRunning && (
          <Button size="xs" variant="subtle" color="gray" onClick={cancel}>
            {t.common.cancel}
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
      <Progress value={share} size="sm" aria-label={t.export.progress} />
      <span className="dim">
        {t.export.running(
          total === undefined ? grouped(records) : t.common.isOf(grouped(records), grouped(total)),
          bytesText(bytes),
        )}
      </span>
    </>
  )
}
