import { TextInput } from '@mantine/core'
import { CopyButton } from '../copy-button.tsx'
import { Notice } from '../notice.tsx'

/** A new key. It is only in the state of the dialog that shows it: not in the URL, in storage, or in the query cache. */
export function SecretView({
  secret,
  children,
}: {
  readonly secret: string
  readonly children?: React.ReactNode
}) {
  return (
    <div className="stack">
      <Notice tone="warn" title="Copy the key now">
        It is shown only once: the service stores its hash, not the key.
      </Notice>
      <div className="secret">
        <TextInput
          label="New key"
          readOnly
          spellCheck={false}
          autoComplete="off"
          classNames={{ input: 'mono' }}
          value={secret}
          onFocus={(event) => event.target.select()}
        />
        <CopyButton label="Copy key" variant="filled" size="sm" text={() => secret} />
      </div>
      {children}
    </div>
  )
}
