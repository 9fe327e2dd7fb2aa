import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { limits } from '../../../../server/src/limits/limits.ts'
import { Probe } from './raw-request.ts'
import { headerParts, otherParts, urlParts } from './request-parts.ts'
import { routeBodies } from './route-bodies.ts'
import { routeTable } from './route-table.ts'
import { shapes } from './texts.ts'

const sender = { name: 'with a key', host: 'acme.localhost', key: 'k' }
const routes = await routeTable()
const parts = [...otherParts, ...routes.flatMap((route) => [...urlParts(route), ...headerParts(route)])]

describe('every part of a request', () => {
  it('is filled up to the size limit of a request', () => {
    for (const part of parts) {
      const message = part.message('x'.repeat(part.capacity), sender)
      const end = message.indexOf('\r\n\r\n') + 4
      const [requestLine = ''] = message.toString('latin1').split('\r\n', 1)
      expect(requestLine.length, part.name).toBeLessThan(
        Math.max(limits.urlBytesMax + 100, part.capacity + 1),
      )
      expect(end, part.name).toBeLessThan(limits.headerBytesMax)
      expect(message.length, part.name).toBeGreaterThan(part.capacity * 0.9)
      expect(message.length - end, part.name).toBeLessThanOrEqual(limits.queryBodyBytesMax + 100)
    }
  })

  it('has a unique name', () => {
    const names = parts.map(({ name }) => name)
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })
})

describe('every body of a route', () => {
  it('is filled up to the size limit of the route, or of a line', () => {
    const checked = routes.filter(({ url }) => url.startsWith('/manage/') || url.includes('product'))
    for (const route of checked.filter(({ acceptsGzip }) => !acceptsGzip)) {
      for (const body of routeBodies(route)) {
        if (body.type === 'application/x-www-form-urlencoded') continue
        const bytes = body.message(sender)
        const size = bytes.length - bytes.indexOf('\r\n\r\n') - 4
        expect(size, body.name).toBeLessThanOrEqual(route.bodyBytesMax)
        expect(size, body.name).toBeGreaterThan(route.bodyBytesMax * 0.95)
      }
    }
  })

  it('has a unique name', () => {
    const names = routes.flatMap(routeBodies).map(({ name }) => name)
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
    expect(names.length).toBeGreaterThan(1_000)
  })
})

describe('every shape', () => {
  it('fills the requested length', () => {
    for (const shape of shapes) {
      const { length } = shape.of(10_000)
      expect(length, shape.name).toBeGreaterThan(9_900)
      expect(length, shape.name).toBeLessThanOrEqual(10_000)
    }
  })
})

describe('the probe', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-probe-'))
  let child: ChildProcess
  let probe: Probe

  /** A process that uses the requested milliseconds of CPU time in one iteration of its event loop. */
  const program = `
    const { createServer } = require('node:net')
    const used = () => (process.threadCpuUsage().user + process.threadCpuUsage().system) / 1000
    createServer((socket) => socket.on('data', (text) => {
      const end = used() + Number(text)
      while (used() < end);
      socket.end('done')
    })).listen(process.env.WORK, () => console.log('ready'))`

  beforeAll(async () => {
    child = spawn(
      process.execPath,
      ['--import', fileURLToPath(new URL('probe.ts', import.meta.url)), '--eval', program],
      {
        env: { ...process.env, BLOCK_PROBE: join(folder, 'probe'), WORK: join(folder, 'work') },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    if (child.stdout === null) throw new Error('no output')
    await once(child.stdout, 'data')
    probe = await Probe.connect(join(folder, 'probe'))
  })

  afterAll(() => {
    probe.close()
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  const work = async (ms: number) => {
    const socket = connect(join(folder, 'work'))
    socket.on('data', () => {})
    socket.write(String(ms))
    await once(socket, 'close')
  }

  it('reports the longest iteration of the event loop, and then starts again', async () => {
    await probe.longestMs()
    await work(200)
    const longest = await probe.longestMs()
    expect(longest).toBeGreaterThan(190)
    // On a busy machine an idle event loop has long iterations, too, but not always.
    while ((await probe.longestMs()) > 190) await sleep(20)
  })
})
