import { type ChildProcess, spawn } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../../server/src/cli/database/temporary-postgres.ts'
import type { Stoppable } from '../../check.ts'
import { createCertificate, installed } from '../programs.ts'

const deploy = fileURLToPath(new URL('../../../../deploy/', import.meta.url))

/** A proxy in front of serving processes, with its configuration from `deploy/`: only ports and files are replaced. */
export interface ReverseProxy extends Stoppable {
  readonly name: string
  readonly httpPort: number
  readonly httpsPort: number
  /** The certificate that clients must trust. */
  readonly certificate: string
  /** Files in which the proxy stores bodies at the moment. */
  temporaryFiles(): string[]
}

export type StartProxy = (ports: readonly number[]) => Promise<ReverseProxy>

export const startNginx: StartProxy = (ports) =>
  startProxy('nginx', ({ folder, httpPort, httpsPort, files }) => {
    const shared = join(folder, 'upstream.conf')
    writeFileSync(
      shared,
      withServers(read('nginx/upstream.conf'), /^( +server )\S+?( max_fails=0;)$/gm, ports),
    )
    const site = join(folder, 'quartermaster.conf')
    const text = read('nginx/quartermaster.conf')
      .replaceAll(/^ +listen \[::\].*\n/gm, '')
      .replace('listen 80 ', `listen 127.0.0.1:${httpPort} `)
      .replace('listen 443 ', `listen 127.0.0.1:${httpsPort} `)
      .replace('/etc/quartermaster/tls/tls.crt', files.certificate)
      .replace('/etc/quartermaster/tls/tls.key', files.key)
      .replaceAll('/var/log/nginx/', `${folder}/`)
    writeFileSync(site, text)
    const temporary = join(folder, 'temporary')
    mkdirSync(temporary)
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const main = join(folder, 'nginx.conf')
    writeFileSync(
      main,
      `daemon off; pid ${folder}/nginx.pid; ${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1; error_log stderr warn; events { worker_connections 2048; }
http {
  ${paths.map((path) => `${path}_temp_path ${temporary}/${path};`).join(' ')}
  include ${shared};
  include ${site};
}
`,
    )
    return ['-c', main, '-p', folder, '-e', 'stderr']
  })

export const startHaproxy: StartProxy = (ports) =>
  startProxy('haproxy', ({ folder, httpPort, httpsPort, files }) => {
    const pem = join(folder, 'tls.pem')
    writeFileSync(pem, readFileSync(files.certificate, 'utf8') + readFileSync(files.key, 'utf8'))
    const main = join(folder, 'haproxy.cfg')
    const text = read('haproxy/haproxy.cfg')
      .replace('bind :80', `bind 127.0.0.1:${httpPort}`)
      .replace('bind :443', `bind 127.0.0.1:${httpsPort}`)
      .replace('/etc/quartermaster/tls/tls.pem', pem)
    // Only root can become another user.
    const own = process.getuid?.() === 0 ? text : text.replaceAll(/^ +(?:user|group) haproxy\n/gm, '')
    writeFileSync(main, withServers(own, /^( +server quartermaster\d )\S+($)/gm, ports))
    return ['-db', '-f', main]
  })

const read = (path: string) => readFileSync(join(deploy, path), 'utf8')

/** Replaces the addresses of the two processes in the configuration. */
function withServers(text: string, line: RegExp, ports: readonly number[]): string {
  let count = 0
  const replaced = text.replaceAll(line, (_, before: string, after: string) => {
    const port = ports[count++]
    return `${before}127.0.0.1:${port}${after}`
  })
  if (count !== ports.length) throw new Error(`the configuration has ${count} processes, not ${ports.length}`)
  return replaced
}

interface Paths {
  readonly folder: string
  readonly httpPort: number
  readonly httpsPort: number
  readonly files: { readonly certificate: string; readonly key: string }
}

async function startProxy(name: string, configure: (paths: Paths) => string[]): Promise<ReverseProxy> {
  const folder = mkdtempSync(join(tmpdir(), `quartermaster-${name}-`))
  const files = createCertificate(folder)
  const paths = { folder, httpPort: await freePort(), httpsPort: await freePort(), files }
  const args = configure(paths)
  const log = join(folder, 'log')
  const output = openSync(log, 'a')
  const child = spawn(installed(name) ?? name, args, { stdio: ['ignore', output, output] })
  closeSync(output)
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const stop = async () => {
    process.off('exit', kill)
    await terminated(child)
    rmSync(folder, { recursive: true, force: true })
  }
  const until = Date.now() + 60_000
  while (!(await responds(paths.httpPort))) {
    if (child.exitCode !== null || Date.now() > until) {
      const text = readFileSync(log, 'utf8')
      await stop()
      throw new Error(`${name} did not start:\n${text}`)
    }
    await sleep(50)
  }
  return {
    name,
    httpPort: paths.httpPort,
    httpsPort: paths.httpsPort,
    certificate: readFileSync(files.certificate, 'utf8'),
    temporaryFiles: () =>
      openFiles(child.pid ?? 0).filter((file) => file.startsWith(join(folder, 'temporary'))),
    stop,
  }
}

async function terminated(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

function responds(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path: '/' }, (response) => {
      response.resume().once('end', () => resolve(true))
    })
    asked.once('error', () => resolve(false))
    asked.end()
  })
}

/** The files that a process and its children have open. nginx deletes its temporary files as soon as it has created them. */
function openFiles(pid: number): string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return [pid, ...children].flatMap((one) => {
    const folder = `/proc/${one}/fd`
    return readdirSync(folder).flatMap((descriptor) => {
      try {
        return [readlinkSync(join(folder, descriptor))]
      } catch {
        return []
      }
    })
  })
}
