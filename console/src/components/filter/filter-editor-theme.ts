import { EditorView } from '@codemirror/view'

const card = {
  border: '1px solid var(--line)',
  borderRadius: '6px',
  backgroundColor: 'var(--bg)',
  color: 'var(--text)',
  boxShadow: 'var(--shadow)',
}

export const editorTheme = EditorView.theme({
  '&': { fontSize: '13px', backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '22px', maxHeight: '110px', overflow: 'auto' },
  '.cm-content': { padding: '5px 0', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '.cm-placeholder': { color: 'var(--dim)' },
  '.qm-field': { color: 'var(--code-field)' },
  '.qm-operator': { color: 'var(--code-operator)' },
  '.qm-value': { color: 'var(--code-value)' },
  '.qm-join': { color: 'var(--code-join)', fontWeight: '600' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textDecorationSkipInk: 'none',
    textUnderlineOffset: '3px',
    paddingBottom: '0',
  },
  '.cm-tooltip': { ...card, fontFamily: 'var(--sans)' },
  '.cm-tooltip-autocomplete.cm-tooltip-below': { marginTop: 'var(--below-editor, 0)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mono)',
    fontSize: '12px',
    maxHeight: '260px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 10px', display: 'flex', gap: '10px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--text)',
  },
  '.cm-completionLabel': { minWidth: '110px' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700', color: 'var(--accent)' },
  '.cm-completionDetail': {
    fontFamily: 'var(--sans)',
    fontStyle: 'normal',
    color: 'var(--dim)',
    marginLeft: '0',
  },
  '.cm-diagnostic': { borderLeft: '3px solid var(--bad)', padding: '6px 10px', maxWidth: '420px' },
})
