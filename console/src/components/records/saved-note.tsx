import { useQueryClient } from '@tanstack/react-query'
import { type ResourceName, type Row, recordQuery } from '../../api/read.ts'
import { changeRecord } from '../../api/write.ts'
import { useSubmit } from '../../lib/submit.ts'
import { t } from '../../texts/texts.ts'
import { Button } from '../button.tsx'
import { ProblemView } from '../problem-view.tsx'

/** A change that was saved, and what takes it back. */
export interface Saved {
  readonly id: string
  /** The values before. Undefined: it was taken back. */
  readonly before: Row | undefined
  /** Of the version that was saved. */
  readonly etag: string | undefined
}

interface SavedNoteProps {
  readonly name: ResourceName
  readonly saved: Saved
  readonly onUndone: (saved: Saved) => void
}

/** Says that a change was saved, and takes it back, unless others have changed the record since. */
export function SavedNote({ name, saved, onUndone }: SavedNoteProps) {
  const queryClient = useQueryClient()
  const submit = useSubmit()
  const { id, before, etag } = saved
  const undo = () =>
    submit.run(async () => {
      if (before === undefined) return
      const read = await changeRecord(name, id, before, etag)
      queryClient.setQueryData(recordQuery(name, id).queryKey, read)
      void queryClient.invalidateQueries({ queryKey: ['list', name] })
      onUndone({ id, before: undefined, etag: undefined })
    })
  return (
    <div className="saved-note" role="status">
      <span>{before === undefined ? t.edit.undone : t.edit.saved}</span>
      {before !== undefined && (
        <Button size="compact-xs" variant="light" disabled={submit.isBusy} onClick={() => void undo()}>
          {t.edit.undo}
        </Button>
      )}
      {submit.problem !== undefined && <ProblemView problem={submit.problem} />}
    </div>
  )
}
