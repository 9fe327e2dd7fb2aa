import { Button, Progress as ProgressBar } from '@mantine/core'
import { grouped } from '../../lib/format.ts'
import { rejectsCsv } from '../../lib/import/mapping.ts'
import type { Progress } from '../../lib/import/upload.ts'
import type { Step } from '../../lib/import/use-import.ts'
import { saveFile } from '../../lib/save-file.ts'
import { t } from '../../texts/texts.ts'
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
    <section aria-label={t.import.progressSection} className="import-running">
      <ProgressBar value={(read / total) * 100} size="md" aria-label={t.import.progress} />
      <p role="status">{t.import.sent(grouped(read), grouped(total))}</p>
      <Button size="xs" variant="default" onClick={onCancel}>
        {t.common.cancel}
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
    <section aria-label={t.webhooks.result}>
      <h2 role="status">
        {isComplete ? t.import.imported(grouped(read)) : t.import.stopped(grouped(read), grouped(total))}
      </h2>
      {problem !== undefined && <ProblemView problem={problem} />}
      {!isComplete && (
        <Notice tone="warn" title={t.import.written}>
          {t.import.again}
        </Notice>
      )}
      <Counts
        counts={[
          { label: t.import.inserted, count: inserted },
          { label: t.import.changed, count: updated },
          { label: t.import.equal, count: unchanged },
          { label: t.import.rejected, count: rejected, tone: rejected > 0 ? 'bad' : undefined },
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
            {t.import.saveRejected}
          </Button>
        )}
        {!isComplete && (
          <Button size="xs" variant="default" onClick={onResume}>
            {t.import.importAgain}
          </Button>
        )}
        <Button size="xs" variant="default" onClick={onAgain}>
          {t.import.anotherFile}
        </Button>
      </div>
      <Rejects rejects={rejects} />
    </section>
  )
}
