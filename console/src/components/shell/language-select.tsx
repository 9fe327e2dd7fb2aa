import { chooseLanguage, type Language, languages } from '../../lib/language.ts'
import { t } from '../../texts/texts.ts'

const choices = Object.entries(languages)

/** Each language is called what its speakers call it. */
export function LanguageSelect() {
  return (
    <select
      className="language"
      aria-label={t.app.language}
      value={t.locale}
      onChange={(event) => {
        const chosen = event.target.value
        if (isLanguage(chosen)) chooseLanguage(chosen)
      }}
    >
      {choices.map(([language, name]) => (
        <option key={language} value={language} lang={language}>
          {name}
        </option>
      ))}
    </select>
  )
}

function isLanguage(text: string): text is Language {
  return text in languages
}
