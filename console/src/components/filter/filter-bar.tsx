import type { EditorView } from '@codemirror/view'
import type { Fault } from '@quartermaster/client'
import { quoted } from '@quartermaster/filter'
import { lazy, memo, type RefObject, Suspense, use, useEffect, useMemo, useRef, useState } from 'react'
import type { Collection } from '../../api/catalog.ts'
import { check, serverDiagnostics } from '../../filter/diagnostics.ts'
import { type Chips, chipsOf, textOf } from '../../filter/model.ts'
import { useHotkeys } from '../../lib/hotkeys.ts'
import { searchOf } from '../../lib/records/search-words.ts'
import { presentations } from '../../lib/records/views.ts'
import { t } from '../../texts/texts.ts'
import { Button, IconButton } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { ChipRow } from './chip-row.tsx'

// If it cannot be loaded, the plain text field stays.
const FilterEditor = lazy(() => import('./filter-editor.tsx').catch(() => ({ default: NotYet })))

interface FilterBarProps {
  readonly collection: Collection
  /** The filter of the URL. */
  readonly applied: string
  /** Errors of the service in the applied filter. */
  readonly faults: readonly Fault[]
  /** The first view is complete: the editor can be loaded. */
  readonly isReady: boolean
  readonly onApply: (text: string) => void
  /** The words of the URL. */
  readonly search: string | undefined
  readonly onSearch: (words: string | undefined) => void
}

const never = new Promise<never>(() => {})

/** Suspends, so that the plain text field is shown until the editor is loaded. */
function NotYet(): never {
  return use(never)
}

/** The filter as text and as chips, which always show the same filter. */
export const FilterBar = memo(function FilterBar(props: FilterBarProps) {
  const { collection, applied, onApply, search, onSearch } = props
  const { draft, setDraft, chips, diagnostics, isStale } = useDraft(props)
  const editor = useRef<EditorView>(undefined)
  const input = useRef<HTMLInputElement>(null)
  const [isFocusedEarly, setFocusedEarly] = useState(false)
  const focus = () => (editor.current === undefined ? input.current?.focus() : editor.current.focus())
  useSlash(focus)
  const words = searchOf(draft)
  const submit = (text: string) => {
    const typed = searchOf(text)
    if (typed === undefined) return onApply(text.trim() === '' ? '' : text)
    const { searchField } = presentations[collection.name]
    if (searchField !== undefined) return onApply(`${searchField}*${quoted(typed)}`)
    setDraft('')
    onSearch(typed)
  }
  const applyChips = (next: Chips | undefined) => {
    const text = next === undefined ? '' : textOf(next)
    setDraft(text)
    onApply(text)
  }
  const isChanged = draft !== applied
  // While a condition is being typed, what is missing at the end is no news.
  const shown = isChanged ? diagnostics.filter(({ offset }) => offset < draft.length) : diagnostics
  const placeholder = t.filter.placeholder(presentations[collection.name].example)
  const editing = { value: draft, placeholder, onChange: setDraft, onSubmit: submit }
  return (
    <div className="filter-bar">
      <div className="filter-row">
        <div className="filter-box" data-invalid={shown.length > 0 ? '' : undefined}>
          <Icon name="filter" size={14} />
          <Suspense
            fallback={<PlainEditor {...editing} input={input} onFocus={() => setFocusedEarly(true)} />}
          >
            {props.isReady || isFocusedEarly ? (
              <FilterEditor
                {...editing}
                collection={collection}
                diagnostics={diagnostics}
                shouldFocus={isFocusedEarly}
                onEscape={() => setDraft(applied)}
                onView={(view) => (editor.current = view)}
              />
            ) : (
              <NotYet />
            )}
          </Suspense>
          <BarAction
            state={isChanged ? 'changed' : draft === '' ? 'empty' : 'applied'}
            onApply={() => submit(draft)}
            onRemove={() => applyChips(undefined)}
          />
        </div>
      </div>
      <Complaint
        diagnostics={shown}
        onUse={(text) => {
          setDraft(text)
          onApply(text)
        }}
      />
      {words !== undefined && isChanged && (
        <p className="filter-hint" role="status">
          {t.filter.enterFinds(t.nouns[collection.name].one, t.nouns[collection.name].many, words)}
        </p>
      )}
      <ChipRow collection={collection} chips={chips} isStale={isStale} onChange={applyChips}>
        {search !== undefined && <SearchChip search={search} onRemove={() => onSearch(undefined)} />}
      </ChipRow>
    </div>
  )
})

function useSlash(focus: () => void): void {
  useHotkeys({
    '/': (event) => {
      event.preventDefault()
      focus()
    },
  })
}

/** Words have no conditions, and no errors. */
const none: ReturnType<typeof check> = { filter: undefined, diagnostics: [] }

function SearchChip({ search, onRemove }: { readonly search: string; readonly onRemove: () => void }) {
  return (
    <span className="chip search-chip">
      <Icon name="search" size={12} />
      <span title={t.filter.everyWord}>{search}</span>
      <IconButton size="xs" variant="transparent" aria-label={t.list.removeSearch} onClick={onRemove}>
        <Icon name="close" size={10} />
      </IconButton>
    </span>
  )
}

/** The text that is being typed, its errors, and its conditions. */
function useDraft({ collection, applied, faults }: FilterBarProps) {
  const [draft, setDraft] = useState(applied)
  const [chips, setChips] = useState<Chips>()
  useEffect(() => setDraft(applied), [applied])
  const checked = useMemo(
    () => (searchOf(draft) === undefined ? check(draft, collection) : none),
    [draft, collection],
  )
  useEffect(() => {
    if (checked.filter !== undefined) setChips(chipsOf(checked.filter))
    else if (checked.diagnostics.length === 0) setChips(undefined)
  }, [checked])
  const diagnostics = useMemo(() => {
    const fromServer = draft === applied ? serverDiagnostics(faults) : []
    return fromServer.length > 0 ? fromServer : checked.diagnostics
  }, [draft, applied, faults, checked])
  const isStale = checked.filter === undefined && checked.diagnostics.length > 0
  return { draft, setDraft, chips, diagnostics, isStale }
}

interface PlainEditorProps {
  readonly value: string
  readonly placeholder: string
  readonly input: RefObject<HTMLInputElement | null>
  readonly onChange: (text: string) => void
  readonly onSubmit: (text: string) => void
  readonly onFocus: () => void
}

/** Until the editor is loaded, or if it cannot be loaded. */
function PlainEditor({ value, placeholder, input, onChange, onSubmit, onFocus }: PlainEditorProps) {
  return (
    <input
      ref={input}
      className="filter-input"
      aria-label={t.filter.filter}
      placeholder={placeholder}
      value={value}
      onFocus={onFocus}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={(event) => event.key === 'Enter' && onSubmit(event.currentTarget.value)}
    />
  )
}

interface BarActionProps {
  readonly state: 'changed' | 'empty' | 'applied'
  readonly onApply: () => void
  readonly onRemove: () => void
}

function BarAction({ state, onApply, onRemove }: BarActionProps) {
  if (state === 'empty') return <kbd className="key">/</kbd>
  if (state === 'changed') {
    return (
      <Button size="compact-xs" onClick={onApply}>
        {t.filter.apply} ↵
      </Button>
    )
  }
  return (
    <IconButton size="sm" variant="subtle" aria-label={t.list.removeFilter} onClick={onRemove}>
      <Icon name="close" size={12} />
    </IconButton>
  )
}

interface ComplaintProps {
  readonly diagnostics: ReturnType<typeof check>['diagnostics']
  readonly onUse: (text: string) => void
}

/** The first error in words, with the corrected filter if there is one. */
function Complaint({ diagnostics, onUse }: ComplaintProps) {
  const [first, ...others] = diagnostics
  const suggestion = first?.suggestion
  return (
    <div className="complaint" role="status" aria-live="polite">
      {first !== undefined && (
        <>
          <span>
            {first.message}
            {others.length > 0 && ` ${t.filter.andMore(others.length)}`}
          </span>
          {suggestion !== undefined && (
            <Button size="compact-xs" variant="light" onClick={() => onUse(suggestion)}>
              {t.filter.use}&nbsp;<code>{suggestion}</code>
            </Button>
          )}
        </>
      )}
    </div>
  )
}
