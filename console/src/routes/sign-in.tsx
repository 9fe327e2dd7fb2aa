import { Button, PasswordInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { readSelf, selfQuery } from '../api/access.ts'
import { problemFrom } from '../api/exchange.ts'
import { forgetResponses } from '../api/read.ts'
import { Logo } from '../components/icon.tsx'
import { LanguageSelect } from '../components/shell/language-select.tsx'
import { accountOf } from '../lib/account.ts'
import { adviceOf } from '../lib/advice.ts'
import { storeSelf } from '../lib/keys/stored-self.ts'
import { usePageTitle } from '../lib/page-title.ts'
import { signIn, tryKey } from '../session.ts'
import { t } from '../texts/texts.ts'

/** Shown in place of any page until there is a key, so that a shared link works after signing in. */
export function SignInPage() {
  usePageTitle(t.pages.signIn)
  const queryClient = useQueryClient()
  const router = useRouter()
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const submit = async () => {
    const key = typed.trim()
    if (key === '') return setError(t.signIn.paste)
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
      setError(code === 'unauthenticated' ? t.signIn.rejected : `${detail} ${adviceOf(code) ?? ''}`)
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
        <h1>{t.signIn.title(accountOf(location))}</h1>
        <p>{t.signIn.use}</p>
        <PasswordInput
          label={t.signIn.key}
          placeholder="qm_…"
          autoComplete="off"
          spellCheck={false}
          visibilityToggleButtonProps={{ 'aria-label': t.signIn.showKey }}
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
          {t.pages.signIn}
        </Button>
        <p className="note">{t.signIn.note(location.host)}</p>
        <LanguageSelect />
      </form>
    </main>
  )
}
