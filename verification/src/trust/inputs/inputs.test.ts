import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { limits } from '../../../../server/src/limits.ts'
import { Probe } from './ask.ts'
import { filterPlaces, places } from './places.ts'
import { shapes } from './shapes.ts'

const sender = { name: 'with a key', host: 'acme.localhost', key: 'k' }

describe('every place', () => {
  it('is filled as far as a request may go, and no further', () => {
    for (const place of [...places, ...filterPlaces]) {
      const message = place.message('x'.repeat(place.room), sender)
      const end = message.indexOf('\r\n\r\n') + 4
      const [line = ''] = message.toString('latin1').split('\r\n', 1)
      expect(line.length, place.name).toBeLessThan(Math.max(limits.urlBytesMax + 100, place.room + 1))
      expect(end, place.name).toBeLessThan(limits.headerBytesMax)
      expect(message.length, place.name).toBeGreaterThan(place.room * 0.9)
      expect(message.length - end, place.name).toBeLessThanOrEqual(limits.queryBodyBytesMax + 100)
    }
  })

  it('has another name', () => {
    const names = [...places, ...filterPlaces].map(({ name }) => name)
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })
})

describe('every shape', () => {
  it('fills its room', () => {
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

  /** A process that works for so many milliseconds of processor time in one turn when it is told to, or sleeps. */
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

  it('tells the longest turn of the event loop, and then begins anew', async () => {
    await probe.longestMs()
    await work(200)
    const longest = await probe.longestMs()
    expect(longest).toBeGreaterThan(190)
    // On a busy machine an idle loop has long turns, too, but not always.
    while ((await probe.longestMs()) > 190) await sleep(20)
  })
})
