import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** Builds `dist`, or the folder that is passed: the command as one module, with the client and what connectors have in common. */

const root = fileURLToPath(new URL('.', import.meta.url))

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  resolve: {
    alias: {
      '@quartermaster/client': `${root}../../client/src/index.ts`,
      '@quartermaster/sync': `${root}../sync/src/index.ts`,
    },
  },
  ssr: { noExternal: true },
  build: {
    ssr: `${root}src/command.ts`,
    outDir: resolve(process.argv[2] ?? `${root}dist`),
    emptyOutDir: true,
    target: 'node24',
    minify: false,
  },
})
