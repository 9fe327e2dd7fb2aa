import { join } from 'node:path'
import { run } from '../run.ts'

/** A generator of clients, with a program that uses the result as its documentation shows. */
export interface Generator {
  readonly name: string
  /** npm packages with exact versions. They are installed when the check runs, because they have 100 MB. */
  readonly packages: readonly string[]
  /** Writes the client of `openapi.json` into `folder/client`. */
  generate(folder: string): Promise<void>
  /**
   * Files that do not depend on the document, and that the generator's own authors do not compile with
   * `exactOptionalPropertyTypes`.
   */
  readonly runtime: RegExp | undefined
  /**
   * Reads BASE_URL and KEY. It lists products, gets one, and creates a partner. By the unique field x_sku it sends batches as JSON and
   * upserts a product, and it adjusts that one. Only generated operations send requests.
   */
  readonly program: string
}

/** Runs a program of the generator's npm packages. */
export async function binary(folder: string, name: string, args: readonly string[]): Promise<void> {
  await run(join(folder, 'node_modules/.bin', name), args, { cwd: folder })
}

/** The beginning of each program, after its imports. */
export const environment = `const baseUrl = process.env['BASE_URL'] ?? ''
const key = process.env['KEY'] ?? ''
function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what)
}
`
