import { TextInput } from '@mantine/core'
import { t } from '../../texts/texts.ts'
import { CopyButton } from '../copy-button.tsx'
import { Notice } from '../notice.tsx'

/** A new key, or the secret of a webhook. It is only in the state of the dialog that shows it: not in the URL, in storage, or in the query cache. */
export function SecretView({
  secret,
  what = 'key',
  children,
}: {
  readonly secret: string
  readonly what?: 'key' | 'secret'
  readonly children?: React.ReactNode
}) {
  return (
    <div className="stack">
      <Notice tone="warn" title={t.keys.secretTexts[what].copyNow}>
        {t.keys.secretTexts[what].once}
      </Notice>
      <div className="secret">
        <TextInput
          label={t.keys.secretTexts[what].label}
          readOnly
          spellCheck={false}
          autoComplete="off"
          classNames={{ input: 'mono' }}
          value={secret}
          onFocus={(event) => event.target.select()}
        />
        <CopyButton label={t.keys.secretTexts[what].copy} variant="filled" size="sm" text={() => secret} />
      </div>
      {children}
    </div>
  )
}
