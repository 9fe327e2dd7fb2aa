import { Menu } from '@mantine/core'
import type { Collection, Field } from '../../api/catalog.ts'
import type { Row } from '../../api/read.ts'
import { grouped } from '../../lib/format.ts'
import { csvOf } from '../../lib/records/csv.ts'
import { rowsNdjson } from '../../lib/records/record-json.ts'
import type { ListParameters } from '../../lib/records/records-search.ts'
import { useExport } from '../../lib/records/use-export.ts'
import { saveFile } from '../../lib/save-file.ts'
import { t } from '../../texts/texts.ts'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'

interface ExportMenuProps {
  readonly collection: Collection
  readonly parameters: ListParameters
  readonly fields: readonly Field[]
  readonly rows: readonly Row[] | undefined
  readonly total: number | undefined
}

/** Saves this page, or every record of the list, as a file. */
export function ExportMenu({ collection, parameters, fields, rows, total }: ExportMenuProps) {
  const { state, start, cancel } = useExport(collection, parameters, total)
  const isRunning = state.kind === 'running'
  const { plural } = collection
  const page = rows ?? []
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <Button
          size="xs"
          variant="default"
          icon={<Icon name="download" size={14} />}
          disabled={rows === undefined}
        >
          <span className="label">{isRunning ? grouped(state.progress.records) : t.export.export}</span>
          <span role="status" className={state.kind === 'failed' ? 'copied bad' : 'visually-hidden'}>
            {state.kind === 'done' || state.kind === 'failed' ? state.text : ''}
          </span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {isRunning ? (
          <Menu.Item onClick={cancel}>{t.export.cancel}</Menu.Item>
        ) : (
          <>
            <Menu.Label>{t.export.page}</Menu.Label>
            <Menu.Item onClick={() => saveFile(`${plural}.csv`, 'text/csv', `\uFEFF${csvOf(fields, page)}`)}>
              {t.export.pageCsv}
            </Menu.Item>
            <Menu.Item
              onClick={() => saveFile(`${plural}.ndjson`, 'application/x-ndjson', rowsNdjson(fields, page))}
            >
              {t.export.pageNdjson}
            </Menu.Item>
            <Menu.Label>{t.export.all(total === undefined ? '' : grouped(total))}</Menu.Label>
            <Menu.Item onClick={() => void start('csv')}>{t.export.allCsv}</Menu.Item>
            <Menu.Item onClick={() => void start('ndjson')}>{t.export.allNdjson}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
