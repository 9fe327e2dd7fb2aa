import { lazy, Suspense, useEffect, useState } from 'react'
import { useHotkeys } from '../../lib/hotkeys.ts'
import { useKey } from '../../session.ts'
import { Shell } from './shell.tsx'
import { withMantine } from './with-mantine.ts'

const SignInPage = lazy(withMantine(async () => (await import('../../routes/sign-in.tsx')).SignInPage))
const Palette = lazy(withMantine(async () => (await import('./palette.tsx')).Palette))
const Help = lazy(withMantine(async () => (await import('./help.tsx')).Help))

/** Everything below the router: the sign-in, or the shell with the page of the URL. */
export function Root() {
  const key = useKey()
  return <Suspense>{key === undefined ? <SignInPage /> : <SignedIn />}</Suspense>
}

function SignedIn() {
  const [dialog, setDialog] = useState<'palette' | 'help'>()
  useHotkeys({ '?': () => setDialog('help') })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      event.preventDefault()
      setDialog('palette')
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  const close = () => setDialog(undefined)
  return (
    <>
      <Shell onPalette={() => setDialog('palette')} onHelp={() => setDialog('help')} />
      <Suspense>
        {dialog === 'palette' && <Palette onClose={close} onHelp={() => setDialog('help')} />}
        {dialog === 'help' && <Help onClose={close} />}
      </Suspense>
    </>
  )
}
