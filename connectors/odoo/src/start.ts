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
const { main } = await import('./main.ts')
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
process.exitCode = await main(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  signal: stop.signal,
})
