import { exactlyOnce } from './exactly-once.ts'
import type { Figure } from './figure.ts'
import { noInjection } from './filter-proof/injection.ts'
import { filterProof } from './filter-proof/proof.ts'
import { rawForms } from './filter-proof/raw-forms.ts'
import { noLeak } from './no-leak/no-leak.ts'
import { parserLinear } from './parser/linear.ts'
import { printIdentity } from './parser/print-identity.ts'
import { parserStrings } from './parser/strings.ts'

/**
 * What `npm run figures -- NAME` runs, in this order. `no_injection` looks at the statements that the figures before
 * it caused, so it stands after them.
 */
export const suites: Record<string, readonly Figure[]> = {
  service: [
    printIdentity,
    parserStrings,
    parserLinear,
    filterProof,
    rawForms,
    noInjection,
    noLeak,
    exactlyOnce,
  ],
}
