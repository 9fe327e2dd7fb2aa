import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { accessQuery } from '../../api/access.ts'
import { notOfConsole } from '../../api/request-id.ts'
import { accountOf } from '../../lib/account.ts'
import { chooseColorScheme, useColorScheme } from '../../lib/color-scheme.ts'
import { useIdleAfter } from '../../lib/use-idle-after.ts'
import { signOut } from '../../session.ts'
import { t } from '../../texts/texts.ts'
import { IconButton } from '../button.tsx'
import { Icon, type IconName, Logo } from '../icon.tsx'
import { LanguageSelect } from './language-select.tsx'

const recordLinks = [
  { to: '/products', icon: 'box', name: 'product' },
  { to: '/partners', icon: 'people', name: 'partner' },
  { to: '/companies', icon: 'building', name: 'company' },
] as const

const manageLinks = [
  { to: '/keys', name: 'key', icon: 'key' },
  { to: '/fields', name: 'field', icon: 'tag' },
  { to: '/webhooks', name: 'webhook', icon: 'hook' },
  { to: '/deliveries', name: 'delivery', icon: 'send' },
  { to: '/audit', name: 'audit', icon: 'history' },
  { to: '/requests', name: 'request', icon: 'pulse', search: { filter: notOfConsole } },
  { to: '/usage', name: 'usage', icon: 'chart' },
] as const

/** The frame of every page: header, navigation, content. */
export function Shell({
  onPalette,
  onHelp,
}: {
  readonly onPalette: () => void
  readonly onHelp: () => void
}) {
  const [isNavOpen, setNavOpen] = useState(false)
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes after every navigation
  useEffect(() => setNavOpen(false), [pathname])
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        {t.app.skip}
      </a>
      <header className="topbar">
        <IconButton
          className="menu-button"
          variant="subtle"
          aria-label={t.app.navigation}
          aria-expanded={isNavOpen}
          onClick={() => setNavOpen(!isNavOpen)}
        >
          <Icon name="menu" />
        </IconButton>
        <Link className="brand" to="/">
          <Logo />
          <span>{accountOf(location)}</span>
        </Link>
        <button type="button" className="palette-button" onClick={onPalette}>
          <Icon name="search" size={14} />
          <span>{t.app.search}</span>
          <span className="spacer" />
          <kbd className="key">{t.help.ctrl} K</kbd>
        </button>
        <span className="spacer" />
        <ThemeToggle />
        <IconButton variant="subtle" aria-label={t.app.help} title={t.app.helpKey} onClick={onHelp}>
          <Icon name="help" />
        </IconButton>
        <IconButton variant="subtle" aria-label={t.app.signOut} title={t.app.signOut} onClick={signOut}>
          <Icon name="out" />
        </IconButton>
      </header>
      <Navigation isOpen={isNavOpen} />
      <main className="main" id="main" tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  )
}

function Navigation({ isOpen }: { readonly isOpen: boolean }) {
  // Asked once per tab, after the requests of the page.
  const isIdle = useIdleAfter(true)
  const { data: access } = useQuery({ ...accessQuery, enabled: isIdle })
  return (
    <nav className="nav" aria-label={t.app.accountPages} data-open={isOpen ? '' : undefined}>
      {recordLinks
        .filter((link) => access?.[link.name] !== false)
        .map((link) => (
          <NavItem key={link.to} {...link} />
        ))}
      <NavItem to="/changes" name="changes" icon="delta" />
      {access?.manage === true && <h2>{t.app.administration}</h2>}
      {access?.manage === true && manageLinks.map((link) => <NavItem key={link.to} {...link} />)}
      <div className="end">
        <a href="/reference">
          <Icon name="code" />
          {t.app.reference}
        </a>
        <LanguageSelect />
      </div>
    </nav>
  )
}

type Target = '/changes' | (typeof recordLinks)[number]['to'] | (typeof manageLinks)[number]['to']

function NavItem({
  to,
  name,
  icon,
  search = {},
}: {
  readonly to: Target
  readonly name: keyof typeof t.pages

  readonly icon: IconName
  readonly search?: { readonly filter?: string }
}) {
  return (
    <Link to={to} search={search} activeOptions={{ includeSearch: false }}>
      <Icon name={icon} />
      {t.pages[name]}
    </Link>
  )
}

function ThemeToggle() {
  const isDark = useColorScheme() === 'dark'
  const label = isDark ? t.app.light : t.app.dark
  return (
    <IconButton
      variant="subtle"
      aria-label={label}
      title={label}
      onClick={() => chooseColorScheme(isDark ? 'light' : 'dark')}
    >
      <Icon name={isDark ? 'sun' : 'moon'} />
    </IconButton>
  )
}
