import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { documented } from '../../architecture/documented.ts'
import type { Check } from './check.ts'
import { OnlyNode } from './ship/only-node.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Ends commands that hang. Far longer than they take: installing the packages alone takes minutes on a busy machine. */
const minutesMax = 30

/** The one command of the README, on a clean clone of the current commit, and then the request that it shows. */
export const firstMinute: Check = {
  name: 'first_minute',
  bound: 'the list of the README, and the console',
  run: (context) =>
    onCleanClone(async (folder) => {
      context.log('running the demo of the README on a clean clone')
      const machine = new OnlyNode(nodeOfMachine())
      try {
        const started = performance.now()
        const demo = machine.start(`${documented('demo', folder).trim()} -- --port 0`, folder)
        const [, key = '', url = ''] = await demo.until(/^ +curl .*Bearer (\S+)' '(http:\/\/[^/]+)/m)
        const request = documented('first-list', folder).replace('http://127.0.0.1:8080', url)
        const list: unknown = JSON.parse(await machine.run(request, folder, { KEY: key }))
        const seconds = Math.round((performance.now() - started) / 1000)
        const page = await fetch(`${url}/console`)
        const html = await page.text()
        demo.signal('SIGINT')
        await demo.ended
        const isListed = isDeepStrictEqual(list, firstResponse(folder))
        const hasConsole = page.status === 200 && html.includes('<title>')
        return {
          value: `${isListed ? 'the list' : 'another list'} after ${seconds} s on Node ${machine.version}, ${hasConsole ? 'the console' : 'no console'}`,
          samples: 2,
          ok: isListed && hasConsole,
          ...(isListed ? {} : { note: JSON.stringify(list) }),
        }
      } finally {
        await machine.stop()
      }
    }),
}

/** The Node of the machine, not the one in `.tools/`: the command must work with Node 20. */
function nodeOfMachine(): string {
  const path = (process.env['PATH'] ?? '')
    .split(':')
    .filter((part) => !part.startsWith(root) && !part.includes('/.tools/'))
  const node = path.map((part) => join(part, 'node')).find((file) => existsSync(file))
  return node ?? process.execPath
}

/** The first response that the README shows. */
function firstResponse(folder: string): unknown {
  const [, block = ''] =
    /^```json\n([\s\S]*?)^```$/m.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ?? []
  return JSON.parse(block)
}

/** Runs `work` in a clean clone of the current commit, and removes the clone afterwards. */
export async function onCleanClone<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-clone-'))
  try {
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, folder])
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function bash(script: string, cwd: string): Promise<string> {
  // As in a new user's shell, without the Node, npm and database settings of this run.
  const path = (process.env['PATH'] ?? '').split(':').filter((part) => !part.startsWith(root))
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:npm_|DATABASE_|NODE$)/.test(name))
  const env = { ...Object.fromEntries(inherited), PATH: path.join(':') }
  const child = spawn('bash', ['-e', '-c', script], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: minutesMax * 60_000,
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      if (code === 0) resolve(output)
      else reject(new Error(`the commands exited with ${code}:\n${output.slice(-3000)}`))
    })
  })
}
