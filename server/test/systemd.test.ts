import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bin } from './command.ts'
import { freshDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import { Processes } from './processes.ts'

/** What `serve` reports to systemd. Perl receives it, because Node has no datagram Unix sockets. */

const receiver = `use Socket; $| = 1;
socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die; bind($s, sockaddr_un($ARGV[0])) or die;
while (defined recv($s, my $m, 4096, 0)) { $m =~ tr/\\n/ /; print "$m\\n" }`

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe.runIf(isInstalled('systemd-notify') && isInstalled('perl'))('Type=notify', () => {
  it.each([
    { args: [], reload: false, title: 'one process' },
    { args: ['--processes', '1'], reload: true, title: '--processes' },
  ])('$title reports when it is ready, reloads and stops', async ({ args, reload }) => {
    const folder = mkdtempSync(join(tmpdir(), 'quartermaster-notify-'))
    const socket = join(folder, 'notify')
    const perl = spawn('perl', ['-e', receiver, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
    let received = ''
    perl.stdout.setEncoding('utf8').on('data', (text: string) => (received += text))
    try {
      await eventually(() => existsSync(socket))
      const service = new Processes({ DATABASE_URL: await freshDatabase(), NOTIFY_SOCKET: socket }, args)
      await eventually(() => received.includes('READY=1'))
      await eventually(() => service.lines('listening').length > 0)
      const states = ['READY=1']
      if (reload) {
        service.signal('SIGHUP')
        await eventually(() => received.split('READY=1').length === 3)
        await eventually(() => service.lines('restarted').length === 1)
        expect(received).toMatch(/RELOADING=1 MONOTONIC_USEC=\d+/)
        states.push('RELOADING=1', 'READY=1')
      }
      service.signal('SIGTERM')
      expect(await service.exited).toEqual([0, null])
      await eventually(() => received.includes('STOPPING=1'))
      // systemd-notify also sends BARRIER=1, to wait until its message is received.
      const sent = received.match(/\b(?:READY|RELOADING|STOPPING)=1/g)
      expect(sent).toEqual([...states, 'STOPPING=1'])
      expect(service.lines('notify-failed')).toEqual([])
    } finally {
      perl.kill()
      rmSync(folder, { recursive: true })
    }
  })
})

it('serves, and logs a warning, if systemd-notify is missing', async () => {
  const service = new Processes({ NOTIFY_SOCKET: '/nowhere', PATH: '/nowhere' }, [])
  await eventually(() => service.lines('notify-failed').length === 1)
  expect(service.lines('notify-failed')).toMatchObject([{ cause: expect.stringContaining('ENOENT') }])
  expect((await fetch(`http://127.0.0.1:${service.port}/livez`)).status).toBe(200)
})

it('a reload starts workers of the version that the link leads to, and the primary keeps its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-current-'))
  try {
    for (const version of ['1', '2']) {
      mkdirSync(join(folder, version))
      writeFileSync(
        join(folder, version, 'quartermaster.mjs'),
        `process.stderr.write(JSON.stringify({ msg: 'version ${version}' }) + '\\n')\nawait import('${bin}')\n`,
      )
    }
    const link = (version: string) => execFileSync('ln', ['-sfn', version, join(folder, 'current')])
    link('1')
    const service = new Processes({}, ['--processes', '1'], join(folder, 'current/quartermaster.mjs'))
    await eventually(() => service.lines('version 1').length === 2)
    await eventually(() => service.lines('listening').length > 0)
    link('2')
    service.signal('SIGHUP')
    await eventually(() => service.lines('version 2').length > 0)
    expect(service.lines('version 1')).toHaveLength(2)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
