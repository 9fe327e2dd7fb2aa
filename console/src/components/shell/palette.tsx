// biome-ignore-all lint/a11y/useFocusableInteractive: the text field has the focus, and aria-activedescendant names the option
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the text field handles the keys
// biome-ignore-all lint/a11y/noNoninteractiveElementToInteractiveRole: a list of options
// biome-ignore-all lint/a11y/useSemanticElements: a select element cannot be a palette
import { Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import { type Access, accessQuery } from '../../api/access.ts'
import { problemFrom } from '../../api/exchange.ts'
import { type Found, findQuery } from '../../api/find.ts'
import { ownFieldsQuery } from '../../api/own-fields-query.ts'
import { chooseColorScheme, useColorScheme } from '../../lib/color-scheme.ts'
import { type Command, commandsFor } from '../../lib/commands.ts'
import { chooseLanguage } from '../../lib/language.ts'
import { readViews } from '../../lib/records/saved-views.ts'
import { partsOf, searchOf, wordsOf } from '../../lib/records/search-words.ts'
import { textsOf } from '../../lib/search.ts'
import { useSettled } from '../../lib/use-settled.ts'
import { signOut } from '../../session.ts'
import { t } from '../../texts/texts.ts'
import { Icon } from '../icon.tsx'

interface PaletteProps {
  readonly onClose: () => void
  readonly onHelp: () => void
}

/** A search over pages, actions, saved views, records and filters. */
export function Palette({ onClose, onHelp }: PaletteProps) {
  const { pathname, search } = useLocation()
  const { data: access } = useQuery(accessQuery)
  const { data: own } = useQuery(ownFieldsQuery)
  const [typed, setTyped] = useState('')
  const [active, setActive] = useState(0)
  const list = useListInView(active)
  const { found, isSearching, problem } = useFound(typed, access)
  const commands = useMemo(() => {
    const parameters = textsOf(search)
    return commandsFor({ typed, to: pathname, search: parameters, access, own, views: readViews(), found })
  }, [typed, pathname, search, access, own, found])
  const run = useRun(onClose, onHelp)
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setActive((active + step + commands.length) % Math.max(commands.length, 1))
    }
    const command = commands[active]
    if (event.key === 'Enter' && command !== undefined) {
      event.preventDefault()
      run(command)
    }
  }
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      size={560}
      yOffset="12vh"
      attributes={{ content: { 'aria-label': t.palette.commands } }}
    >
      <div className="palette-input">
        <Icon name="search" size={16} />
        <input
          data-autofocus
          role="combobox"
          aria-label={t.palette.search}
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={commands.length > 0 ? `command-${active}` : undefined}
          placeholder={t.palette.placeholder}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value)
            setActive(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ul
        className="palette-list"
        id="palette-list"
        role="listbox"
        aria-label={t.palette.commands}
        ref={list}
      >
        <Options commands={commands} typed={typed} active={active} onActive={setActive} onRun={run} />
      </ul>
      <p className="palette-none" role="status">
        {problem !== undefined && t.palette.failed(problem.detail)}
        {problem === undefined && commands.length === 0 && noneText(typed, isSearching)}
      </p>
    </Modal>
  )
}

/** Scrolls the active option into view. */
function useListInView(active: number) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return list
}

function noneText(typed: string, isSearching: boolean): string {
  if (isSearching) return t.palette.searching
  return t.palette.nothing(typed)
}

/** How long a person pauses before their words are searched for. */
const pauseMs = 150
const charactersMin = 2
const noneFound: readonly Found[] = []

/** The records with the words that were typed. */
function useFound(typed: string, access: Access | undefined) {
  const search = searchOf(typed)
  const settled = useSettled(search, pauseMs)
  const isId = search !== undefined && /^\d{1,16}$/.test(search)
  const isEnabled = search !== undefined && search.length >= charactersMin && !isId
  const { data, error, isFetching } = useQuery({
    ...findQuery(settled ?? '', access),
    enabled: isEnabled && settled !== undefined && settled.length >= charactersMin,
  })
  if (!isEnabled) return { found: noneFound, isSearching: false, problem: undefined }
  return {
    found: data ?? noneFound,
    isSearching: isFetching || settled !== search,
    problem: error === null ? undefined : problemFrom(error),
  }
}

/** Closes the palette and does what the command says. */
function useRun(onClose: () => void, onHelp: () => void) {
  const navigate = useNavigate()
  const colorScheme = useColorScheme()
  return ({ action }: Command) => {
    onClose()
    if (action.kind === 'go') void navigate({ to: action.to, search: action.search })
    else if (action.kind === 'language') chooseLanguage(action.language)
    else if (action.name === 'help') onHelp()
    else if (action.name === 'sign-out') signOut()
    else if (action.name === 'reference') location.assign('/reference')
    else chooseColorScheme(colorScheme === 'dark' ? 'light' : 'dark')
  }
}

interface OptionsProps {
  readonly commands: readonly Command[]
  /** Its words are marked. */
  readonly typed: string
  readonly active: number
  readonly onActive: (index: number) => void
  readonly onRun: (command: Command) => void
}

function Options({ commands, typed, active, onActive, onRun }: OptionsProps) {
  const words = wordsOf(searchOf(typed) ?? '')
  return commands.map((command, index) => (
    <li
      key={`${command.label} ${command.hint}`}
      id={`command-${index}`}
      role="option"
      aria-selected={index === active}
      onMouseMove={() => onActive(index)}
      onClick={() => onRun(command)}
    >
      <span className="palette-label">
        <Marked text={command.label} words={words} />
        {command.why !== undefined && (
          <span className="palette-why">
            <Marked text={command.why} words={words} />
          </span>
        )}
      </span>
      <span className="dim">{command.hint}</span>
    </li>
  ))
}

function Marked({ text, words }: { readonly text: string; readonly words: readonly string[] }) {
  return partsOf(text, words).map(({ text: part, isMatch }, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity
    isMatch ? <mark key={index}>{part}</mark> : <span key={index}>{part}</span>,
  )
}
