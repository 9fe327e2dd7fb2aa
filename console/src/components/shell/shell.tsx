import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { accessQuery } from '../../api/access.ts'
import { notOfConsole } from '../../api/request-id.ts'
import { accountOf } from '../../lib/account.ts'
import { chooseColorScheme, useColorScheme } from '../../lib/color-scheme.ts'
import { useIdleAfter } from '../../lib/use-idle-after.ts'
import { signOut } from '../../session.ts'
import { IconButton } from '../button.tsx'
import { Icon, type IconName, Logo } from '../icon.tsx'

const recordLinks = [
  { to: '/products', label: 'Products', icon: 'box', access: 'product' },
  { to: '/partners', label: 'Partners', icon: 'people', access: 'partner' },
  { to: '/companies', label: 'Companies', icon: 'building', access: 'company' },
] as const

const manageLinks = [
  { to: '/keys', label: 'Keys', icon: 'key' },
  { to: '/fields', label: 'Fields', icon: 'tag' },
  { to: '/webhooks', label: 'Webhooks', icon: 'hook' },
  { to: '/deliveries', label: 'Deliveries', icon: 'send' },
  { to: '/audit', label: 'Audit', icon: 'history' },
  { to: '/requests', label: 'Requests', icon: 'pulse', search: { filter: notOfConsole } },
  { to: '/usage', label: 'Usage', icon: 'chart' },
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
        Skip to the content
      </a>
      <header className="topbar">
        <IconButton
          className="menu-button"
          variant="subtle"
          aria-label="Navigation"
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
          <span>Search or go to…</span>
          <span className="spacer" />
          <kbd className="key">Ctrl K</kbd>
        </button>
        <span className="spacer" />
        <ThemeToggle />
        <IconButton variant="subtle" aria-label="Help" title="Help (?)" onClick={onHelp}>
          <Icon name="help" />
        </IconButton>
        <IconButton variant="subtle" aria-label="Sign out" title="Sign out" onClick={signOut}>
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
    <nav className="nav" aria-label="Pages of the account" data-open={isOpen ? '' : undefined}>
      {recordLinks
        .filter((link) => access?.[link.access] !== false)
        .map(({ to, label, icon }) => (
          <NavItem key={to} to={to} label={label} icon={icon} />
        ))}
      <NavItem to="/changes" label="Changes" icon="delta" />
      {access?.manage === true && <h2>Administration</h2>}
      {access?.manage === true && manageLinks.map((link) => <NavItem key={link.to} {...link} />)}
      <div className="end">
        <a href="/reference" target="_blank" rel="noreferrer">
          <Icon name="code" />
          API reference
        </a>
      </div>
    </nav>
  )
}

type Target = '/changes' | (typeof recordLinks)[number]['to'] | (typeof manageLinks)[number]['to']

function NavItem({
  to,
  label,
  icon,
  search = {},
}: {
  readonly to: Target
  readonly label: string
  readonly icon: IconName
  readonly search?: { readonly filter?: string }
}) {
  return (
    <Link to={to} search={search} activeOptions={{ includeSearch: false }}>
      <Icon name={icon} />
      {label}
    </Link>
  )
}

function ThemeToggle() {
  const isDark = useColorScheme() === 'dark'
  const label = isDark ? 'Use light colours' : 'Use dark colours'
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
