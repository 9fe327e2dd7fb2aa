#!/usr/bin/env node
// Plain JavaScript, so that an old Node can say what is wrong instead of failing on the first type annotation.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isOnlyQuartermaster } from './npm-script.js'

// Node opens its debugger on SIGUSR1 unless somebody listens to it. Whoever wants the debugger starts with --inspect.
process.on('SIGUSR1', () => {})

if (Number(process.versions.node.split('.')[0]) >= 24) {
  endWithShellOfNpm(() => process.kill(process.pid, 'SIGTERM'))
  // The TypeScript source in a checkout, its compiled form in the npm package: see `imports` in package.json.
  await import('#main')
} else {
  const node24 = fileURLToPath(new URL('../../.tools/node24/node_modules/.bin/node', import.meta.url))
  if (existsSync(node24)) {
    const child = spawn(node24, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
      stdio: 'inherit',
    })
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
    endWithShellOfNpm(() => child.kill('SIGTERM'))
    child.on('exit', (code) => {
      process.exitCode = code ?? 1
    })
  } else {
    console.error(`Quartermaster needs Node 24 or later; this is ${process.version}.`)
    console.error('In a checkout, `npm run tools` brings it; elsewhere install Node 24.')
    process.exitCode = 1
  }
}

/**
 * `npx quartermaster serve` runs as npm → sh → this process. npm passes SIGTERM on to the shell, which dies of it without
 * telling anybody, and this process would go on as an orphan. So the end of that shell counts as SIGTERM, but only where npm
 * started the shell for this one command: what runs in the background, or in a longer script, is to outlive its shell.
 */
function endWithShellOfNpm(end) {
  if (!isOnlyQuartermaster(process.env.npm_lifecycle_script ?? '')) return
  const shell = process.ppid
  const look = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(look)
    end()
  }, 250)
  look.unref()
}
