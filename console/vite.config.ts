import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** `npm run dev -w console` forwards the API to this service, such as `npx quartermaster demo`. */
const service = process.env['CONSOLE_SERVICE'] ?? 'http://127.0.0.1:8080'

const firstRequest = 'first-request'

/** Adds the script that requests the list of the page. It is executed as soon as it is loaded, before the application is. */
const firstRequestScript: Plugin = {
  name: 'first-request-script',
  transformIndexHtml: {
    order: 'post',
    handler(_, { bundle = {} }) {
      const chunk = Object.values(bundle).find(({ name }) => name === firstRequest)
      if (chunk === undefined) return []
      const attrs = { type: 'module', async: true, crossorigin: true, src: `/console/${chunk.fileName}` }
      return [{ tag: 'script', attrs, injectTo: 'head' }]
    },
  },
}

/**
 * Chromium then compiles the application while it is being loaded, in another thread. Without the comment, which must be the
 * first line, each function is compiled when it is first called: on a slow CPU, the first view takes a quarter longer (ADR 0045).
 */
const compileHint: Plugin = {
  name: 'compile-hint',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === 'chunk' && chunk.isEntry)
          chunk.code = `//# allFunctionsCalledOnLoad\n${chunk.code}`
      }
    },
  },
}

export default defineConfig({
  base: '/console/',
  plugins: [react(), firstRequestScript, compileHint],
  resolve: {
    alias: {
      '@quartermaster/client': fileURLToPath(new URL('../client/src/index.ts', import.meta.url)),
    },
  },
  build: {
    target: 'es2022',
    // The Content-Security-Policy allows no data: URL of a script, style or font.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The licences of the bundled libraries require that their texts are part of every copy.
    license: { fileName: 'licenses.txt' },
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: firstRequest, test: /[\\/]send-first-request\.ts$/, priority: 1 },
            // One file for the first view: each further file costs a request before anything is shown.
            { name: 'console', tags: ['$initial'] },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/manage', '/openapi.json', '/reference'].map((path) => [path, service]),
    ),
  },
})
