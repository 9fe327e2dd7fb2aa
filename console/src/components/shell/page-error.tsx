import { Button } from '../button.tsx'

/**
 * Replaces a page that cannot be rendered. The usual cause is a file of the console that could not be loaded. A browser does not
 * request a module again that has failed, so the page must be loaded anew.
 */
export function PageError({ error }: { readonly error: unknown }) {
  return (
    <div className="state" role="alert">
      <h2>This page cannot be shown</h2>
      <p>Reload it to try again. If the error remains, report it to the operator.</p>
      <p className="dim">{error instanceof Error ? error.message : String(error)}</p>
      <div className="actions">
        <Button size="xs" onClick={() => window.location.reload()}>
          Reload
        </Button>
      </div>
    </div>
  )
}
