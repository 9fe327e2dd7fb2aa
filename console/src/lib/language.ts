import { en } from '../texts/en.ts'
import { setTexts, type Texts, t } from '../texts/texts.ts'

/** The languages of the console, by what they call themselves. */
export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages

const storageName = 'quartermaster.language'

const dictionaries: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => en,
  de: async () => (await import('../texts/de.ts')).de,
}

/** The language that a person chose in this browser, otherwise the first one of the browser that the console has. */
export function preferredLanguage(chosen: string | null, preferences: readonly string[]): Language {
  const wanted = [...(chosen === null ? [] : [chosen]), ...preferences]
  const known = wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in languages)
  return known === 'de' ? 'de' : 'en'
}

/** Those that a person can change to, by what they call themselves. */
export function otherLanguages(): readonly (readonly [Language, string])[] {
  return (['en', 'de'] as const)
    .filter((language) => language !== t.locale)
    .map((language) => [language, languages[language]])
}

/** Before the first render. Without its dictionary the console is English. */
export async function loadLanguage(): Promise<void> {
  const language = preferredLanguage(localStorage.getItem(storageName), navigator.languages)
  const texts = await dictionaries[language]().catch(() => en)
  setTexts(texts)
  document.documentElement.lang = texts.locale
}

/** Loads the page again: the address has its state, and a form with changes asks first. */
export function chooseLanguage(language: Language): void {
  localStorage.setItem(storageName, language)
  location.reload()
}
