import { useEffect, useState } from 'react'
import { t } from '../texts/texts.ts'
import { Button, type ButtonProps } from './button.tsx'
import { Icon } from './icon.tsx'

interface CopyButtonProps extends ButtonProps {
  readonly label: string
  readonly text: () => string
}

/** Says t.common.copied for a moment after a click. */
export function CopyButton({ label, text, ...rest }: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  useEffect(() => {
    if (state === 'idle') return undefined
    const timer = setTimeout(() => setState('idle'), 1_600)
    return () => clearTimeout(timer)
  }, [state])
  const copy = () => {
    navigator.clipboard.writeText(text()).then(
      () => setState('copied'),
      () => setState('failed'),
    )
  }
  return (
    <Button
      size="xs"
      variant="default"
      icon={<Icon name={state === 'copied' ? 'check' : 'copy'} size={14} />}
      {...rest}
      onClick={copy}
    >
      <span aria-live="polite">
        {state === 'copied' ? t.common.copied : state === 'failed' ? t.common.notCopied : label}
      </span>
    </Button>
  )
}
