#!/usr/bin/env node
// Plain JavaScript, so that an old Node can say what is wrong instead of failing on the first type annotation.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

if (Number(process.versions.node.split('.')[0]) >= 24) {
  if (process.argv[2] === 'serve') await keepYoungGenerationSmall()
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

/**
 * The engine takes its size only when a process begins, so this one begins again, under the same number. Whoever set a
 * size, by hand or in NODE_OPTIONS, keeps it.
 */
async function keepYoungGenerationSmall() {
  const flag = '--max-semi-space-size'
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? '']
  if (process.execve === undefined || given.some((one) => one.includes(flag))) return
  const { limits } = await import('../src/limits.ts')
  const size = `${flag}=${limits.youngGenerationMb}`
  process.execve(process.execPath, [process.execPath, ...process.execArgv, size, ...process.argv.slice(1)])
}
