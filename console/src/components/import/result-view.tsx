import { Button, Progress as ProgressBar } from '@mantine/core'
import { grouped } from '../../lib/format.ts'
import { rejectsCsv } from '../../lib/import/mapping.ts'
import type { Progress } from '../../lib/import/upload.ts'
import type { Step } from '../../lib/import/use-import.ts'
import { saveFile } from '../../lib/save-file.ts'
import { Icon } from '../icon.tsx'
import { Notice } from '../notice.tsx'
import { ProblemView } from '../problem-view.tsx'
import { Counts, Rejects } from './preview-view.tsx'

interface RunningProps {
  readonly progress: Progress | undefined
  readonly total: number
  readonly onCancel: () => void
}

export function Running({ progress, total, onCancel }: RunningProps) {
  const read = progress?.read ?? 0
  return (
    <section aria-label="Progress" className="import-running">
      <ProgressBar value={(read / total) * 100} size="md" aria-label="Import progress" />
      <p role="status">
        {grouped(read)} of {grouped(total)} rows sent
      </p>
      <Button size="xs" variant="default" onClick={onCancel}>
        Cancel
      </Button>
    </section>
  )
}

interface DoneProps {
  readonly done: Extract<Step, { readonly kind: 'done' }>
  readonly header: readonly string[]
  readonly fileName: string
  readonly total: number
  readonly onAgain: () => void
  readonly onResume: () => void
}

/** What was written, and the rejected rows as a file. */
export function Done({ done, header, fileName, total, onAgain, onResume }: DoneProps) {
  const { progress, problem, isCancelled } = done
  const { read, inserted, updated, unchanged, rejected, rejects } = progress
  const isComplete = problem === undefined && !isCancelled
  return (
    <section aria-label="Result">
      <h2 role="status">
        {isComplete
          ? `${grouped(read)} rows imported`
          : `Stopped after ${grouped(read)} of ${grouped(total)} rows`}
      </h2>
      {problem !== undefined && <ProblemView problem={problem} />}
      {!isComplete && (
        <Notice tone="warn" title="The rows so far are written">
          You can import the file again: rows that are equal already are left as they are.
        </Notice>
      )}
      <Counts
        counts={[
          { label: 'Inserted', count: inserted },
          { label: 'Changed', count: updated },
          { label: 'Equal already', count: unchanged },
          { label: 'Rejected', count: rejected, tone: rejected > 0 ? 'bad' : undefined },
        ]}
      />
      <div className="row import-actions">
        {rejects.length > 0 && (
          <Button
            size="xs"
            leftSection={<Icon name="download" size={14} />}
            onClick={() =>
              saveFile(
                `rejected-${fileName.replace(/\.\w+$/, '')}.csv`,
                'text/csv',
                rejectsCsv(header, rejects),
              )
            }
          >
            Save rejected rows
          </Button>
        )}
        {!isComplete && (
          <Button size="xs" variant="default" onClick={onResume}>
            Import again
          </Button>
        )}
        <Button size="xs" variant="default" onClick={onAgain}>
          Another file
        </Button>
      </div>
      <Rejects rejects={rejects} />
    </section>
  )
}
