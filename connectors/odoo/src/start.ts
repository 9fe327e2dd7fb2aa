import { registerHooks } from 'node:module'

/** In a checkout, the packages of this repository are their sources: nothing is built. */
const sources: Readonly<Record<string, string>> = {
  '@quartermaster/client': '../../../client/src/index.ts',
  '@quartermaster/sync': '../../sync/src/index.ts',
}

registerHooks({
  resolve: (specifier, context, next) => {
    const source = sources[specifier]
    return source === undefined
      ? next(specifier, context)
      : { url: new URL(source, import.meta.url).href, shortCircuit: true }
  },
})
await import('./command.ts')
