import { type Layout, singleServer } from './layout.ts'

/** The layout of a database with these extensions. The code for Citus is loaded only if there is one. */
export async function loadLayout(extensions: readonly string[]): Promise<Layout> {
  if (!extensions.includes('citus')) return singleServer
  const { citus } = await import('../citus/citus.ts')
  return citus
}
