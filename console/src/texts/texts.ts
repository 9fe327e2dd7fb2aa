import { en } from './en.ts'

/**
 * The texts of the console in the language of the person. A language is a dictionary of the type `Texts`, so that a text that it
 * lacks does not compile. English is part of the first file; every other language is a file of its own (ADR 0090).
 */
export type Texts = typeof en

/** Of the current language. Read it when something is rendered, not when a module is evaluated. */
export let t: Texts = en

export function setTexts(texts: Texts): void {
  t = texts
}
