import { Popover } from '@mantine/core'
import { type RefCallback, useLayoutEffect } from 'react'
import { t } from '../../texts/texts.ts'
import { ChipEditor, type ChipEditorProps } from './chip-editor.tsx'

interface ChipPopoverProps extends Omit<ChipEditorProps, 'onCancel'> {
  /** Below which it opens, and which contains its button. */
  readonly anchor: HTMLElement
  readonly onClose: () => void
}

/** The editor of a condition below its chip. */
export function ChipPopover({ anchor, onClose, ...editor }: ChipPopoverProps) {
  return (
    <Popover opened onChange={onClose} position="bottom-start" shadow="md" trapFocus withRoles={false}>
      <Popover.Target>
        <Anchor element={anchor} />
      </Popover.Target>
      <Popover.Dropdown
        p={12}
        role="dialog"
        aria-label={editor.chip === undefined ? t.filter.newCondition : t.filter.condition}
      >
        <ChipEditor {...editor} onCancel={onClose} />
      </Popover.Dropdown>
    </Popover>
  )
}

interface AnchorProps {
  readonly element: HTMLElement
  readonly ref?: RefCallback<HTMLElement>
}

/** Makes an element that is already rendered the target of the popover. */
function Anchor({ element, ref }: AnchorProps) {
  useLayoutEffect(() => {
    ref?.(element)
    return () => void ref?.(null)
  }, [element, ref])
  return null
}
