import { readFileSync, writeFileSync } from 'node:fs'
import { addResults } from './add-results.ts'
import { proofPage } from './page.ts'
import { pageFile, proofFile, readProof } from './records.ts'

/** `npm run proof [-- RESULTS.json …]`: adds the results of full runs to docs/proof.json, and writes docs/proof.md. */
const files = process.argv.slice(2)
const proof = files.reduce(
  (all, file) => addResults(all, JSON.parse(readFileSync(file, 'utf8'))),
  readProof(),
)
if (files.length > 0) writeFileSync(proofFile, `${JSON.stringify(proof, null, 2)}\n`)
writeFileSync(pageFile, proofPage(proof))
