import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** `npm run dev -w console` forwards the API to this service, such as `npx quartermaster demo`. */
const service = process.env['CONSOLE_SERVICE'] ?? 'http://127.0.0.1:8080'

export default defineConfig({
  base: '/console/',
  plugins: [react()],
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
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/manage', '/openapi.json', '/reference'].map((path) => [path, service]),
    ),
  },
})
