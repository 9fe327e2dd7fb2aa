import { ActionIcon, Menu, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { readViews, removeView, type SavedView, saveView } from '../../lib/records/saved-views.ts'
import { parseSearch } from '../../lib/search.ts'
import { t } from '../../texts/texts.ts'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'

/** Views that are saved in this browser. */
export function ViewsMenu({ page, search }: { readonly page: string; readonly search: string }) {
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const [views, setViews] = useState<readonly SavedView[]>(readViews)
  const shown = views.filter((view) => view.page === page)
  const remove = (view: SavedView) => {
    removeView(view)
    setViews(readViews())
  }
  const save = () => {
    if (name.trim() === '') return
    saveView({ name: name.trim(), page, search })
    setViews(readViews())
    setName('')
    setOpen(false)
  }
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-end" shadow="md" width={270} closeOnItemClick>
      <Menu.Target>
        <Button size="xs" variant="default" icon={<Icon name="star" size={14} />}>
          <span className="label">{t.list.views}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {shown.length > 0 && <Menu.Label>{t.list.savedHere}</Menu.Label>}
        {shown.map((view) => (
          <Menu.Item
            key={view.name}
            title={t.list.deleteKey}
            onClick={() => void navigate({ to: '.', search: parseSearch(view.search) })}
            onKeyDown={(event) => event.key === 'Delete' && remove(view)}
            rightSection={<DeleteView name={view.name} onDelete={() => remove(view)} />}
          >
            {view.name}
          </Menu.Item>
        ))}
        {shown.length > 0 && <Menu.Divider />}
        <form
          className="save-view"
          onSubmit={(event) => {
            event.preventDefault()
            save()
          }}
        >
          <TextInput
            size="xs"
            label={t.list.saveViewAs}
            placeholder={t.list.viewExample}
            value={name}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => event.stopPropagation()}
          />
          <Button size="xs" type="submit" disabled={name.trim() === ''}>
            {t.common.save}
          </Button>
        </form>
      </Menu.Dropdown>
    </Menu>
  )
}

/** For the mouse. It cannot be a button: it is within one. The Delete key does the same. */
function DeleteView({ name, onDelete }: { readonly name: string; readonly onDelete: () => void }) {
  return (
    <ActionIcon
      component="span"
      size="xs"
      variant="subtle"
      color="gray"
      aria-label={t.list.deleteView(name)}
      onClick={(event: React.MouseEvent) => {
        event.stopPropagation()
        onDelete()
      }}
    >
      <Icon name="close" size={10} />
    </ActionIcon>
  )
}
