import { t } from '../../texts/texts.ts'
import { Button } from '../button.tsx'

/**
 * Replaces a page that cannot be rendered. The usual cause is a file of the console that could not be loaded. A browser does not
 * request a module again that has failed, so the page must be loaded anew.
 */
export function PageError({ error }: { readonly error: unknown }) {
  return (
    <div className="state" role="alert">
      <h2>{t.app.pageError}</h2>
      <p>{t.app.pageErrorAdvice}</p>
      <p className="dim">{error instanceof Error ? error.message : String(error)}</p>
      <div className="actions">
        <Button size="xs" onClick={() => window.location.reload()}>
          {t.app.reload}
        </Button>
      </div>
    </div>
  )
}
