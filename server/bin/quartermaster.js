#!/usr/bin/env node
// Plain JavaScript, so that an old Node prints the message below instead of failing on the first type annotation.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isOnlyQuartermaster } from './npm-script.js'

// Without a listener, Node opens its debugger on SIGUSR1. To debug, start with --inspect.
process.on('SIGUSR1', () => {})

if (Number(process.versions.node.split('.')[0]) >= 24) {
  endWithShellOfNpm(() => process.kill(process.pid, 'SIGTERM'))
  if (process.pid === 1) exitOnSignals()
  // The TypeScript source in a checkout, its compiled form in the npm package: see `imports` in package.json.
  await import('#main')
} else {
  const node24 = fileURLToPath(new URL('../../.tools/node24/node_modules/.bin/node', import.meta.url))
  if (existsSync(node24)) {
    const child = spawn(node24, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
      stdio: 'inherit',
    })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
    endWithShellOfNpm(() => child.kill('SIGTERM'))
    child.on('exit', (code) => {
      process.exitCode = code ?? 1
    })
  } else {
    console.error(`Quartermaster needs Node 24 or later; this is ${process.version}.`)
    console.error('In a checkout, `npm run tools` installs it; elsewhere install Node 24.')
    process.exitCode = 1
  }
}

/**
 * `npx quartermaster serve` runs as npm → sh → this process. npm forwards SIGTERM to the shell only. The shell
 * exits, and this process would continue as an orphan. So it treats the exit of that shell as SIGTERM, but only if npm started
 * the shell for this one command: in the background or in a longer script, the process must outlive its shell.
 */
function endWithShellOfNpm(end) {
  if (!isOnlyQuartermaster(process.env.npm_lifecycle_script ?? '')) return
  const shell = process.ppid
  const poll = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(poll)
    end()
  }, 250)
  poll.unref()
}

/**
 * The kernel ignores signals to the first process of a container that have their default action, so that SIGTERM during startup
 * and a second SIGTERM during shutdown would have no effect. This handler exits if there is no other one.
 */
function exitOnSignals() {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(code)
    })
  }
}
