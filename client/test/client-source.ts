import { registerHooks } from 'node:module'

/** `node --import` of this file runs an example with the sources of the client, which need not be built. */
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@quartermaster/client'
      ? { url: new URL('../src/index.ts', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
})
