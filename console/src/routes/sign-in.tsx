import { Button, PasswordInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { readSelf, selfQuery } from '../api/access.ts'
import { problemFrom } from '../api/exchange.ts'
import { forgetResponses } from '../api/read.ts'
import { Logo } from '../components/icon.tsx'
import { accountOf } from '../lib/account.ts'
import { adviceOf } from '../lib/advice.ts'
import { storeSelf } from '../lib/keys/stored-self.ts'
import { signIn, tryKey } from '../session.ts'

/** Shown in place of any page until there is a key, so that a shared link works after signing in. */
export function SignInPage() {
  const queryClient = useQueryClient()
  const router = useRouter()
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const submit = async () => {
    const key = typed.trim()
    if (key === '') return setError('Paste an API key.')
    setBusy(true)
    forgetResponses()
    queryClient.clear()
    tryKey(key)
    try {
      const self = await readSelf()
      storeSelf(self)
      queryClient.setQueryData(selfQuery.queryKey, self)
      // The address / leads to the first list that the key may read.
      await router.invalidate()
      signIn(key)
    } catch (thrown) {
      tryKey(undefined)
      const { detail, code } = problemFrom(thrown)
      setError(
        code === 'unauthenticated'
          ? 'The service does not accept this key on this host. Check that you pasted all of it, and that the key belongs to this account.'
          : `${detail} ${adviceOf(code) ?? ''}`,
      )
    } finally {
      setBusy(false)
    }
  }
  return (
    <main className="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <span className="brand">
          <Logo size={28} />
        </span>
        <h1>Sign in to {accountOf(location)}</h1>
        <p>Use an API key of this account. Your operator or an account administrator creates one.</p>
        <PasswordInput
          label="API key"
          placeholder="qm_…"
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          autoFocus
          value={typed}
          error={error}
          onChange={(event) => {
            setTyped(event.target.value)
            setError(undefined)
          }}
        />
        <Button type="submit" fullWidth mt={16} loading={isBusy}>
          Sign in
        </Button>
        <p className="note">
          The key stays in this tab until you close it or sign out, and is sent only to {location.host}.
        </p>
      </form>
    </main>
  )
}
