import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The path of an installed program. Debian has daemons in /usr/sbin, which a user's PATH may lack. */
export function installed(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Writes a self-signed certificate for `acme.localhost`, and its key. */
export function createCertificate(folder: string): { certificate: string; key: string } {
  const certificate = join(folder, 'tls.crt')
  const key = join(folder, 'tls.key')
  const request =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost'
  const names = 'subjectAltName=DNS:localhost,DNS:acme.localhost'
  execFileSync('openssl', [...request.split(' '), '-addext', names, '-keyout', key, '-out', certificate], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return { certificate, key }
}
