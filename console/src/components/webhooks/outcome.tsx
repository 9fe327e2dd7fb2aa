import { outcomeOf, type Result } from '../../lib/webhooks/delivery.ts'
import { t } from '../../texts/texts.ts'

/** How a delivery ended, why, and what to do. */
export function Outcome({ result }: { readonly result: Result }) {
  const { tone, title, lines } = outcomeOf(result)
  return (
    <section className="why" data-tone={tone} aria-label={t.webhooks.result} role="status">
      <h3>{title}</h3>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </section>
  )
}
