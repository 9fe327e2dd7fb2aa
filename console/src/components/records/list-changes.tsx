import type { ResourceName } from '../../api/changes.ts'
import { changesText } from '../../lib/changes/since.ts'
import { useListChanges } from '../../lib/changes/use-list-changes.ts'
import { t } from '../../texts/texts.ts'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'

interface ListChangesProps {
  readonly resource: ResourceName
  readonly filter: string | undefined
  /** When the list was loaded. */
  readonly loadedAt: number
  readonly onRefresh: () => void
}

/** Above a list: how many of its records have changed since it was loaded. */
export function ListChanges({ resource, filter, loadedAt, onRefresh }: ListChangesProps) {
  const changes = useListChanges(resource, filter, loadedAt)
  return (
    <div role="status">
      {changes !== undefined && (
        <div className="list-changes">
          <span>{changesText(changes.count, changes.more)}</span>
          <Button
            size="compact-xs"
            variant="light"
            icon={<Icon name="rotate" size={12} />}
            onClick={onRefresh}
          >
            {t.common.refresh}
          </Button>
        </div>
      )}
    </div>
  )
}
