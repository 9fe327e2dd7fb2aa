import { TextInput } from '@mantine/core'
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
      <Notice tone="warn" title={`Copy the ${what} now`}>
        {what === 'key'
          ? 'It is shown only once: the service stores its hash, not the key.'
          : 'It is shown only once. If you lose it, rotate the secret.'}
      </Notice>
      <div className="secret">
        <TextInput
          label={`New ${what}`}
          readOnly
          spellCheck={false}
          autoComplete="off"
          classNames={{ input: 'mono' }}
          value={secret}
          onFocus={(event) => event.target.select()}
        />
        <CopyButton label={`Copy ${what}`} variant="filled" size="sm" text={() => secret} />
      </div>
      {children}
    </div>
  )
}
