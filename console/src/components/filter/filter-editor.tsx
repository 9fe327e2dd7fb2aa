import {
  autocompletion,
  type CompletionContext,
  closeCompletion,
  completionKeymap,
  startCompletion,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { setDiagnostics } from '@codemirror/lint'
import { EditorState, type Extension, Prec } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  placeholder,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'
import { type Token, tokens } from '@quartermaster/filter'
import { useEffect, useRef } from 'react'
import type { Collection } from '../../api/catalog.ts'
import { completionAt, operatorsAfter } from '../../filter/completion.ts'
import type { Diagnostic } from '../../filter/diagnostics.ts'
import { t } from '../../texts/texts.ts'
import { editorTheme } from './filter-editor-theme.ts'

export interface FilterEditorProps {
  readonly value: string
  readonly placeholder: string
  readonly collection: Collection
  readonly diagnostics: readonly Diagnostic[]
  readonly shouldFocus: boolean
  readonly onChange: (text: string) => void
  readonly onSubmit: (text: string) => void
  readonly onEscape: () => void
  readonly onView: (view: EditorView | undefined) => void
}

/**
 * The text of the filter. The editor is in a shadow root: there CodeMirror adopts its style sheets, which the
 * Content-Security-Policy allows, instead of inserting style elements, which it does not.
 */
export default function FilterEditor(props: FilterEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    if (host.current === null) return undefined
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    const created = new EditorView({ root, parent: root, state: stateOf(latest.current.value, latest) })
    view.current = created
    latest.current.onView(created)
    if (latest.current.shouldFocus) {
      created.dispatch({ selection: { anchor: created.state.doc.length } })
      created.focus()
    }
    const stopMeasuring = measureBelow(host.current)
    return () => {
      latest.current.onView(undefined)
      stopMeasuring()
      created.destroy()
    }
  }, [])
  useEffect(() => {
    const current = view.current
    if (current === undefined || current.state.doc.toString() === props.value) return
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: props.value } })
  }, [props.value])
  useEffect(() => {
    const current = view.current
    if (current === undefined) return
    const { length } = current.state.doc
    const shown = props.diagnostics.map(({ offset, length: extent, message }) => {
      // An error at the end of the text, or of no length, underlines the character before it.
      const to = Math.min(offset + Math.max(extent, 1), length)
      const from = Math.min(offset, Math.max(to - 1, 0))
      return { from, to, severity: 'error' as const, message }
    })
    current.dispatch(setDiagnostics(current.state, shown))
  }, [props.diagnostics])
  return <div ref={host} className="filter-editor" />
}

/** Measures what is between the editor and the end of the filter bar: suggestions are shown below it, not over the chips. */
function measureBelow(host: HTMLElement): () => void {
  const bar = host.closest('.filter-bar')
  if (bar === null) return () => {}
  const observer = new ResizeObserver(() => {
    const below = bar.getBoundingClientRect().bottom - host.getBoundingClientRect().bottom
    host.style.setProperty('--below-editor', `${Math.round(below)}px`)
  })
  observer.observe(bar)
  return () => observer.disconnect()
}

function stateOf(doc: string, latest: { readonly current: FilterEditorProps }): EditorState {
  // The text of the editor: the last input may not be rendered yet.
  const submit = (view: EditorView) => {
    // Also those that the last input would still open.
    closeCompletion(view)
    latest.current.onSubmit(view.state.doc.toString())
    return true
  }
  const extensions: Extension[] = [
    history(),
    Prec.high(
      keymap.of([
        ...completionKeymap,
        { key: 'Enter', run: submit },
        {
          key: 'Escape',
          run: (view) => {
            view.contentDOM.blur()
            latest.current.onEscape()
            return true
          },
        },
      ]),
    ),
    keymap.of([...defaultKeymap, ...historyKeymap]),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({
      'aria-label': t.filter.filter,
      spellcheck: 'false',
      autocapitalize: 'off',
    }),
    placeholder(latest.current.placeholder),
    replaceOnInput,
    EditorView.updateListener.of((update) => {
      if (update.docChanged) latest.current.onChange(update.state.doc.toString())
    }),
    highlighting,
    autocompletion({
      override: [(context) => completions(context, latest.current.collection)],
      icons: false,
      activateOnTyping: true,
      defaultKeymap: false,
    }),
    editorTheme,
    EditorState.phrases.of(t.filter.phrases),
  ]
  return EditorState.create({ doc, extensions })
}

/**
 * Text that replaces a selection. Left to the browser, it would keep the colour of the replaced text in a `style`
 * attribute, which the Content-Security-Policy forbids.
 */
const replaceOnInput = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== 'insertText' || event.data === null || view.composing) return false
    const { from, to } = selectedRange(view)
    if (from === to) return false
    event.preventDefault()
    view.dispatch({
      changes: { from, to, insert: event.data },
      selection: { anchor: from + event.data.length },
      userEvent: 'input.type',
      scrollIntoView: true,
    })
    return true
  },
})

/** The selection as the browser has it: the editor learns of a new selection only with a later event. */
function selectedRange(view: EditorView): { readonly from: number; readonly to: number } {
  const { root, contentDOM } = view
  const shadowRoots = root instanceof ShadowRoot ? [root] : []
  const [range] = getSelection()?.getComposedRanges?.({ shadowRoots }) ?? []
  if (
    range === undefined ||
    !contentDOM.contains(range.startContainer) ||
    !contentDOM.contains(range.endContainer)
  )
    return view.state.selection.main
  return {
    from: view.posAtDOM(range.startContainer, range.startOffset),
    to: view.posAtDOM(range.endContainer, range.endOffset),
  }
}

function completions(context: CompletionContext, { name, fields }: Collection) {
  // CodeMirror asks some time after the input. It would show suggestions over what has the focus by then.
  if (context.view?.hasFocus === false) return null
  const text = context.state.doc.toString()
  const found = completionAt(text, context.pos, fields, name)
  if (found === undefined) return null
  const typed = text.slice(found.from, context.pos)
  // A complete field name: what follows is an operator.
  const operators = operatorsAfter(typed, context.pos, fields)
  const { from, suggestions } = operators ?? found
  if (suggestions.length === 0 || suggestions.some(({ insert }) => insert === typed)) return null
  return {
    from,
    options: suggestions.map(({ label, detail, insert }) => ({
      label,
      detail,
      apply: (view: EditorView, _: unknown, start: number, end: number) => {
        view.dispatch({
          changes: { from: start, to: end, insert },
          selection: { anchor: start + insert.length },
        })
        startCompletion(view)
      },
    })),
    filter: operators === undefined,
    // CodeMirror shows the previous suggestions while it asks again, and ignores a click on them. More letters of the same
    // word only filter what is shown.
    validFor: (word: string) =>
      operators === undefined && /^\w+$/.test(word) && !suggestions.some(({ insert }) => insert === word),
  }
}

const marks: Readonly<Record<Token['kind'], Decoration | undefined>> = {
  field: Decoration.mark({ class: 'qm-field' }),
  operator: Decoration.mark({ class: 'qm-operator' }),
  value: Decoration.mark({ class: 'qm-value' }),
  and: Decoration.mark({ class: 'qm-join' }),
  or: Decoration.mark({ class: 'qm-join' }),
  open: Decoration.mark({ class: 'qm-join' }),
  close: Decoration.mark({ class: 'qm-join' }),
  comma: Decoration.mark({ class: 'qm-operator' }),
  'list-close': Decoration.mark({ class: 'qm-operator' }),
  stray: undefined,
}

function decorationsOf({ state }: EditorView): DecorationSet {
  const ranges = tokens(state.doc.toString()).flatMap(({ kind, offset, length }) => {
    const mark = marks[kind]
    return mark === undefined ? [] : [mark.range(offset, offset + length)]
  })
  return Decoration.set(ranges)
}

/** Colours by the tokens of the filter language. */
const highlighting = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet
    constructor(view: EditorView) {
      this.decorations = decorationsOf(view)
    }
    update(update: ViewUpdate) {
      if (update.docChanged) this.decorations = decorationsOf(update.view)
    }
  },
  { decorations: (plugin) => plugin.decorations },
)
