import { lazy, Suspense, useState } from 'react'
import type { Collection } from '../../api/catalog.ts'
import {
  type Chip,
  type Chips,
  type Path,
  replaced,
  toggledJoin,
  withChip,
  without,
} from '../../filter/model.ts'
import { wordOf } from '../../filter/operators.ts'
import { t } from '../../texts/texts.ts'
import { Button, IconButton } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { withMantine } from '../shell/with-mantine.ts'

const ChipPopover = lazy(withMantine(async () => (await import('./chip-popover.tsx')).ChipPopover))

interface ChipRowProps {
  readonly collection: Collection
  readonly chips: Chips | undefined
  /** The text has an error: the chips show the last filter that had none. */
  readonly isStale: boolean
  readonly onChange: (chips: Chips | undefined) => void
  /** Before the conditions. */
  readonly children?: React.ReactNode
}

/** The conditions of the filter, each of which opens an editor. */
export function ChipRow({ collection, chips, isStale, onChange, children }: ChipRowProps) {
  return (
    <section className="chips" aria-label={t.filter.conditions} data-stale={isStale ? '' : undefined}>
      {children}
      {chips !== undefined && (
        <ChipNode collection={collection} root={chips} item={chips} path={[]} onChange={onChange} />
      )}
      <ChipTarget
        collection={collection}
        chip={undefined}
        onApply={(chip) => onChange(withChip(chips, chip))}
        target={(open) => (
          <Button
            className="add-chip"
            size="compact-xs"
            variant="subtle"
            icon={<Icon name="plus" size={12} />}
            onClick={open}
          >
            {t.filter.add}
          </Button>
        )}
      />
    </section>
  )
}

interface ChipNodeProps {
  readonly collection: Collection
  readonly root: Chips
  readonly item: Chips
  readonly path: Path
  readonly onChange: (chips: Chips | undefined) => void
}

function ChipNode({ collection, root, item, path, onChange }: ChipNodeProps) {
  if (item.kind === 'group') {
    const parts = item.items.map((one, index) => (
      <span key={[...path, index].join()} className="chip-part">
        {index > 0 && (
          <button
            type="button"
            className="join"
            title={t.filter.changeTo(item.join === 'and' ? t.filter.or : t.filter.and)}
            onClick={() => onChange(toggledJoin(root, path))}
          >
            {t.filter[item.join]}
          </button>
        )}
        <ChipNode
          collection={collection}
          root={root}
          item={one}
          path={[...path, index]}
          onChange={onChange}
        />
      </span>
    ))
    return path.length === 0 ? parts : <span className="chip-group">{parts}</span>
  }
  return (
    <span className="chip">
      <ChipTarget
        collection={collection}
        chip={item}
        onApply={(chip) => onChange(replaced(root, path, chip))}
        target={(open) => (
          <button
            type="button"
            className="chip-text"
            aria-label={t.filter.edit(chipText(item, collection))}
            onClick={open}
          >
            <b>{item.field}</b> <i>{operatorText(item, collection)}</i> <span>{valueText(item)}</span>
          </button>
        )}
      />
      <IconButton
        size="xs"
        variant="transparent"
        aria-label={t.filter.remove(chipText(item, collection))}
        onClick={() => onChange(without(root, path))}
      >
        <Icon name="close" size={10} />
      </IconButton>
    </span>
  )
}

interface ChipTargetProps {
  readonly collection: Collection
  readonly chip: Chip | undefined
  readonly onApply: (chip: Chip) => void
  readonly target: (open: () => void) => React.ReactNode
}

/** A button that opens the editor of a condition. */
function ChipTarget({ collection, chip, onApply, target }: ChipTargetProps) {
  const [isOpen, setOpen] = useState(false)
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const close = () => {
    setOpen(false)
    anchor?.querySelector('button')?.focus()
  }
  return (
    <span ref={setAnchor}>
      {target(() => setOpen(!isOpen))}
      {isOpen && anchor !== null && (
        <Suspense>
          <ChipPopover
            anchor={anchor}
            collection={collection}
            chip={chip}
            onClose={close}
            onApply={(next) => {
              close()
              onApply(next)
            }}
          />
        </Suspense>
      )}
    </span>
  )
}

function operatorText({ field, operator }: Chip, { fields }: Collection): string {
  return wordOf(operator, fields.find(({ name }) => name === field)?.type ?? 'text')
}

function valueText({ values }: Chip): string {
  const shown = values.slice(0, 4).map((value) => value ?? 'null')
  const more = values.length - shown.length
  return (more > 0 ? [...shown, t.filter.more(more)] : shown).join(', ') || '""'
}

function chipText(chip: Chip, collection: Collection): string {
  return `${chip.field} ${operatorText(chip, collection)} ${valueText(chip)}`
}
