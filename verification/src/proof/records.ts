import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** `docs/proof.json`: what the page docs/proof.md shows. `npm run proof` reads it, and adds results to it. */
export const proofFile = fileURLToPath(new URL('../../../docs/proof.json', import.meta.url))
export const pageFile = fileURLToPath(new URL('../../../docs/proof.md', import.meta.url))

/** One measured figure. */
export interface ProofRecord {
  /** What the figure shows, in a sentence. */
  readonly claim: string
  /** The check of `npm run verify` or the benchmark of `npm run bench`. */
  readonly check: string
  readonly figure: string
  /** As the check prints it, at full size. */
  readonly bound: string
  readonly met: boolean
  /** What a reader must know to judge the figure. */
  readonly note?: string
  /** The commit that was measured, or that recorded the figure in `source`. */
  readonly commit: string
  /** YYYY-MM-DD. */
  readonly date: string
  readonly machine: string
  readonly command: string
  /** The document that states the figure, with its heading; absent if the figure comes from a file of results. */
  readonly source?: string
  /** The figure as `source` writes it. */
  readonly quoted?: string
}

export interface ProofSection {
  readonly title: string
  /** What the claims do not say. */
  readonly text?: string
  /** A picture with its description. */
  readonly picture?: { readonly file: string; readonly description: string }
  readonly records: readonly ProofRecord[]
}

export interface Proof {
  readonly sections: readonly ProofSection[]
}

export function readProof(): Proof {
  return JSON.parse(readFileSync(proofFile, 'utf8'))
}
