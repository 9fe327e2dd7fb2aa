#!/usr/bin/env node
// Plain JavaScript, so that an old Node can say what is wrong instead of failing on the first type annotation.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

if (Number(process.versions.node.split('.')[0]) >= 24) {
  await import('../src/main.ts')
} else {
  const node24 = fileURLToPath(new URL('../../.tools/node24/node_modules/.bin/node', import.meta.url))
  if (existsSync(node24)) {
    const child = spawn(node24, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
      stdio: 'inherit',
    })
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
    child.on('exit', (code) => {
      process.exitCode = code ?? 1
    })
  } else {
    console.error(`Quartermaster needs Node 24 or later; this is ${process.version}.`)
    console.error('In a checkout, `npm run tools` brings it; elsewhere install Node 24.')
    process.exitCode = 1
  }
}
