import { printText } from './print.ts'
import {
  joinWords,
  keywords,
  opposites,
  quotedEnd,
  sqlString,
  startsCondition,
  symbols,
  type Verb,
  verbOf,
  withoutWildcards,
  wordAt,
} from './sql-words.ts'
import { isLetter, isSpace, skipSpace } from './tokens.ts'

// Limits the cost of a rejected filter, and the depth of recursion. A person cannot compare two longer texts anyway.
export const suggestionCharsMax = 4096
const depthMax = 32

/**
 * Translates a filter that was written as in SQL or OData, such as `name like '%bolt%' and list_price gt 10`, into the
 * filter language: `name * bolt & list_price > 10`. Returns undefined if the text has a part that is neither, or if there
 * is nothing to translate. White space, and conditions that already are in the filter language, are unchanged.
 *
 * The result has the syntax that was most likely meant, and is only for suggestions: `name='bolt' and id=1` is a valid
 * filter for a name with quotes in it.
 */
export function fromSql(text: string): string | undefined {
  if (text.length > suggestionCharsMax) return undefined
  const edits = new Translation(text).edits()
  if (edits === undefined || edits.length === 0) return undefined
  let [result, from] = ['', 0]
  for (const edit of edits) {
    result += text.slice(from, edit.from) + edit.text
    from = edit.to
  }
  return result + text.slice(from)
}

/** Replaces the text between two offsets. */
interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

interface Position {
  readonly from: number
  readonly to: number
}

/** A recursive descent parser of the combined syntax. A method that returns false has found something else. */
class Translation {
  readonly #text: string
  readonly #edits: Edit[] = []
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  /** In the order of the text. */
  edits(): Edit[] | undefined {
    this.#skipSpace()
    const start = this.#at
    if (this.#takeWord('where')) this.#replace({ from: start, to: this.#skipSpace() }, '')
    return this.#terms() && this.#at === this.#text.length
      ? this.#edits.toSorted((a, b) => a.from - b.from || a.to - b.to)
      : undefined
  }

  /** "and" has precedence over "or" in both languages, so the terms can stay in their order. */
  #terms(): boolean {
    do if (!this.#term()) return false
    while (this.#join())
    return true
  }

  #join(): boolean {
    const from = this.#skipSpace()
    const char = this.#text[from]
    if (char === '&' || char === '|') {
      this.#at += this.#text[from + 1] === char ? 2 : 1
      return this.#replace({ from, to: this.#at }, char)
    }
    const join = joinWords.get(this.#word().toLowerCase())
    if (join === undefined) return false
    this.#at += this.#word().length
    return this.#replace({ from, to: this.#at }, join)
  }

  #term(): boolean {
    const start = this.#skipSpace()
    const negated = this.#takeWord('not')
    if (negated) this.#replace({ from: start, to: this.#skipSpace() }, '')
    if (this.#text[this.#at] === '(') return !negated && this.#group()
    const from = this.#at
    const field = this.#field()
    if (field === undefined) return false
    if (field.toLowerCase() === 'contains' && this.#text[this.#skipSpace()] === '(')
      return this.#containsCall(from, negated)
    return this.#condition({ from, to: this.#at }, field, negated)
  }

  /** The end of the filter may be missing: another repair adds the parenthesis. */
  #group(): boolean {
    if (this.#depth === depthMax) return false
    this.#depth += 1
    this.#at += 1
    if (!this.#terms()) return false
    this.#depth -= 1
    return this.#skipSpace() === this.#text.length || this.#take(')')
  }

  /** A name, possibly in the quotes of another language. */
  #field(): string | undefined {
    const quote = this.#text[this.#at]
    const from = this.#at
    if (quote !== '"' && quote !== '`') {
      const name = this.#word()
      this.#at += name.length
      return name === '' ? undefined : name
    }
    this.#at += 1
    const name = this.#word()
    this.#at += name.length
    if (name === '' || !this.#take(quote)) return undefined
    this.#replace({ from, to: this.#at }, name)
    return name
  }

  /** `contains(name, 'bolt')` */
  #containsCall(from: number, negated: boolean): boolean {
    this.#at += 1
    this.#skipSpace()
    const field = this.#field()
    this.#skipSpace()
    if (field === undefined || !this.#take(',')) return false
    const comma = this.#at
    this.#skipSpace()
    this.#depth += 1
    const value = this.#value(comma, 'like')
    this.#depth -= 1
    this.#skipSpace()
    if (value === undefined || !this.#take(')')) return false
    // Nested edits are replaced by this one.
    while ((this.#edits.at(-1)?.from ?? -1) >= from) this.#edits.pop()
    return this.#replace({ from, to: this.#at }, `${field}${negated ? '!*' : '*'}${value}`)
  }

  #condition(field: Position, name: string, negatedBefore: boolean): boolean {
    const from = this.#skipSpace()
    const negated = this.#takeWord('not') !== negatedBefore
    this.#skipSpace()
    const verb = this.#verb()
    if (verb === undefined) return false
    const at = { from, to: this.#at }
    switch (verb.kind) {
      case 'compare':
      case 'like': {
        this.#replace(at, negated ? opposites[verb.operator] : verb.operator)
        return this.#value(this.#at, verb.kind) !== undefined
      }
      case 'list':
      case 'not-list':
        this.#replace(at, (verb.kind === 'list') === negated ? '![' : '[')
        return this.#list(']')
      case 'in': {
        const open = this.#text[this.#skipSpace()]
        if (open !== '(' && open !== '[') return false
        this.#at += 1
        this.#replace({ from, to: this.#at }, negated ? '![' : '[')
        return this.#list(open === '(' ? ')' : ']')
      }
      case 'is':
        return this.#is(from, negated)
      case 'between':
        return this.#between(field, at, name, negated)
      default:
        return verb satisfies never
    }
  }

  #verb(): Verb | undefined {
    const word = this.#word().toLowerCase()
    if (word !== '') {
      const verb = verbOf(word)
      if (verb !== undefined) this.#at += word.length
      return verb
    }
    const symbol = symbols.find(([text]) => this.#text.startsWith(text, this.#at))
    this.#at += symbol?.[0].length ?? 0
    return symbol?.[1]
  }

  #is(from: number, negatedBefore: boolean): boolean {
    const end = this.#at
    this.#skipSpace()
    const hasNot = this.#takeWord('not')
    this.#replace({ from, to: hasNot ? this.#at : end }, hasNot === negatedBefore ? '=' : '!=')
    const at = this.#skipSpace()
    const word = this.#word()
    if (!keywords.has(word.toUpperCase())) return false
    this.#at += word.length
    return this.#replace({ from: at, to: this.#at }, word.toLowerCase())
  }

  #between(field: Position, at: Position, name: string, negated: boolean): boolean {
    this.#replace(at, negated ? '<' : '>=')
    if (this.#value(this.#at, 'between') === undefined) return false
    const and = this.#skipSpace()
    if (!this.#takeWord('and')) return false
    this.#replace({ from: and, to: this.#at }, negated ? `| ${name} >` : `& ${name} <=`)
    if (this.#value(this.#at, 'compare') === undefined) return false
    if (!negated) return true
    this.#replace({ from: field.from, to: field.from }, '(')
    return this.#replace({ from: this.#at, to: this.#at }, ')')
  }

  #list(close: string): boolean {
    do if (!this.#listValue(close)) return false
    while (this.#take(','))
    const from = this.#at
    return this.#take(close) && this.#replace({ from, to: this.#at }, ']')
  }

  #listValue(close: string): boolean {
    const from = this.#skipSpace()
    const quoted = quotedEnd(this.#text, from)
    if (quoted !== undefined) {
      this.#at = quoted
      this.#skipSpace()
      return true
    }
    const sql = sqlString(this.#text, from)
    if (sql !== undefined) {
      this.#at = sql.end
      this.#replace({ from, to: sql.end }, printText(sql.text))
    } else {
      while (this.#at < this.#text.length && !'&|,()[]'.includes(this.#text.charAt(this.#at)))
        this.#at += this.#text[this.#at] === '\\' ? 2 : 1
      const raw = this.#text.slice(from, this.#at).trimEnd()
      if (raw === '') return false
      if (keywords.has(raw)) this.#replace({ from, to: from + raw.length }, raw.toLowerCase())
    }
    const next = this.#text[this.#skipSpace()]
    return next === ',' || next === close
  }

  /** The value after an operator, as it is written in the filter language. `start` is the end of the operator. */
  #value(start: number, kind: 'compare' | 'like' | 'between'): string | undefined {
    const from = this.#skipSpace()
    const quoted = quotedEnd(this.#text, from)
    if (quoted !== undefined) {
      this.#at = quoted
      return this.#text.slice(from, quoted)
    }
    if (this.#text[from] === '"') return undefined
    const sql = sqlString(this.#text, from)
    if (sql !== undefined && this.#endsValue(sql.end)) {
      this.#at = sql.end
      return this.#valueText({ from, to: sql.end }, sql.text, kind)
    }
    this.#at = this.#bareEnd(from, kind === 'between')
    const raw = this.#text.slice(from, this.#at)
    if (kind === 'like') return this.#valueText({ from, to: this.#at }, raw, kind)
    const afterWord = isLetter(this.#text.charCodeAt(start - 1))
    if (raw === '' && (afterWord || kind === 'between')) return undefined
    // An empty value has no white space of its own.
    if (raw === '') this.#at = start
    else if (keywords.has(raw)) this.#replace({ from, to: this.#at }, raw.toLowerCase())
    return raw
  }

  #valueText(at: Position, text: string, kind: 'compare' | 'like' | 'between'): string | undefined {
    const value = kind === 'like' ? withoutWildcards(text) : text
    if (value === undefined) return undefined
    const printed = printText(value)
    this.#replace(at, printed)
    return printed
  }

  #endsValue(end: number): boolean {
    const next = skipSpace(this.#text, end)
    const char = this.#text.charAt(next)
    if (char === '' || char === '&' || char === '|' || (char === ')' && this.#depth > 0)) return true
    return next > end && joinWords.has(wordAt(this.#text, next).toLowerCase())
  }

  /** A bare value ends as in the filter language, and before an "and" or "or" that is followed by another condition. */
  #bareEnd(from: number, beforeAnyJoin: boolean): number {
    let end = from
    let parentheses = 0
    for (let at = from; at < this.#text.length; ) {
      const char = this.#text.charAt(at)
      if (char === '&' || char === '|') break
      if (char === ')' && this.#depth > 0 && parentheses === 0) break
      if (char === '(') parentheses += 1
      if (char === ')') parentheses -= 1
      if (isSpace(char)) {
        at = skipSpace(this.#text, at)
        const word = wordAt(this.#text, at)
        if (joinWords.has(word.toLowerCase())) {
          if (beforeAnyJoin || startsCondition(this.#text, at + word.length)) break
          at += word.length
          end = at
        }
        continue
      }
      at = Math.min(at + (char === '\\' ? 2 : 1), this.#text.length)
      end = at
    }
    return end
  }

  #replace({ from, to }: Position, text: string): true {
    if (this.#text.slice(from, to) !== text) this.#edits.push({ from, to, text })
    return true
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at += 1
    return true
  }

  #takeWord(word: string): boolean {
    if (this.#word().toLowerCase() !== word) return false
    this.#at += word.length
    return true
  }

  #word(): string {
    return wordAt(this.#text, this.#at)
  }

  #skipSpace(): number {
    this.#at = skipSpace(this.#text, this.#at)
    return this.#at
  }
}
