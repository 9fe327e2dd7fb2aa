import { Menu } from '@mantine/core'
import { useState } from 'react'
import type { Field } from '../../api/catalog.ts'
import type { Row } from '../../api/read.ts'
import { csvOf } from '../../lib/records/csv.ts'
import { rowsJson } from '../../lib/records/record-json.ts'
import { t } from '../../texts/texts.ts'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'

/** Copies the rows of this page. */
export function CopyMenu({
  fields,
  rows,
}: {
  readonly fields: readonly Field[]
  readonly rows: readonly Row[] | undefined
}) {
  const [copied, setCopied] = useState<string>()
  const copy = (format: string, text: string) => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(t.copy.copied(rows?.length ?? 0, format)),
      () => setCopied(t.copy.notAllowed),
    )
    setTimeout(() => setCopied(undefined), 2_500)
  }
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <Button
          size="xs"
          variant="default"
          icon={<Icon name="copy" size={14} />}
          disabled={rows === undefined}
        >
          <span className="label">{t.copy.copy}</span>
          <span role="status" className={copied === undefined ? 'visually-hidden' : 'copied'}>
            {copied}
          </span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => copy('JSON', rowsJson(fields, rows ?? []))}>{t.copy.pageJson}</Menu.Item>
        <Menu.Item onClick={() => copy('CSV', csvOf(fields, rows ?? []))}>{t.copy.pageCsv}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
