import { Checkbox, Popover } from '@mantine/core'
import type { Collection } from '../../api/catalog.ts'
import { labelOf } from '../../lib/labels.ts'
import { moved } from '../../lib/records/columns.ts'
import { t } from '../../texts/texts.ts'
import { Button, IconButton } from '../button.tsx'
import { Icon } from '../icon.tsx'

interface ColumnMenuProps {
  readonly collection: Collection
  /** The columns that are shown, in order. */
  readonly names: readonly string[]
  readonly onChange: (names: readonly string[]) => void
}

/** Chooses and orders the columns: the `fields` of the request. */
export function ColumnMenu({ collection, names, onChange }: ColumnMenuProps) {
  const hidden = collection.fields.filter(({ name }) => !names.includes(name))
  const all = collection.fields.map(({ name }) => name)
  const labels = new Map(collection.fields.map((field) => [field.name, labelOf(field)]))
  const label = (name: string) => labels.get(name) ?? name
  return (
    <Popover position="bottom-end" shadow="md" width={300} trapFocus>
      <Popover.Target>
        <Button size="xs" variant="default" icon={<Icon name="columns" size={14} />}>
          <span className="label">{t.list.columns}</span>
          {hidden.length > 0 && <span className="dim">&nbsp;{names.length}</span>}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={8} aria-label={t.list.columns}>
        <ul className="column-list">
          {names.map((name, index) => (
            <li key={name}>
              <Checkbox
                size="xs"
                checked
                title={name}
                label={label(name)}
                disabled={names.length === 1}
                onChange={() => onChange(names.filter((one) => one !== name))}
              />
              <span className="spacer" />
              <IconButton
                size="sm"
                variant="subtle"
                aria-label={t.list.moveUp(label(name))}
                disabled={index === 0}
                onClick={() => onChange(moved(names, name, names[index - 1]))}
              >
                <Icon name="up" size={12} />
              </IconButton>
              <IconButton
                size="sm"
                variant="subtle"
                aria-label={t.list.moveDown(label(name))}
                disabled={index === names.length - 1}
                onClick={() => onChange(moved(names, name, names[index + 2]))}
              >
                <Icon name="down" size={12} />
              </IconButton>
            </li>
          ))}
          {hidden.map(({ name }) => (
            <li key={name}>
              <Checkbox
                size="xs"
                checked={false}
                title={name}
                label={label(name)}
                onChange={() => onChange([...names, name])}
              />
            </li>
          ))}
        </ul>
        <Button
          size="compact-xs"
          variant="subtle"
          disabled={names.join() === all.join()}
          onClick={() => onChange(all)}
        >
          {t.list.allColumns}
        </Button>
      </Popover.Dropdown>
    </Popover>
  )
}
