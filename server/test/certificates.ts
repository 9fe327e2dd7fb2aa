import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serverUser } from '../src/cli/database/temporary-postgres.ts'

export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** A certificate authority of its own, made by openssl, for tests with real TLS. */
export class Authority {
  readonly ca: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'quartermaster-certificates-'))
  readonly #key: string

  constructor() {
    // Readable for the user that runs PostgreSQL.
    chmodSync(this.#folder, 0o755)
    this.ca = join(this.#folder, 'ca.crt')
    this.#key = join(this.#folder, 'ca.key')
    const subject = ['-subj', '/CN=Test Authority', '-days', '2']
    openssl('req', '-x509', ...newKey, ...subject, '-keyout', this.#key, '-out', this.ca)
  }

  /** `name` is the common name; PostgreSQL takes it as the user. `host` is a name such as `DNS:localhost`. */
  issue(name: string, host?: string): Certificate {
    const file = (extension: string) => join(this.#folder, `${name}.${extension}`)
    const [cert, key, request, extensions] = [file('crt'), file('key'), file('csr'), file('ext')] as const
    openssl('req', ...newKey, '-subj', `/CN=${name}`, '-keyout', key, '-out', request)
    writeFileSync(extensions, host === undefined ? '' : `subjectAltName=${host}\n`)
    const signed = ['-CA', this.ca, '-CAkey', this.#key, '-CAcreateserial', '-extfile', extensions]
    openssl('x509', '-req', '-in', request, ...signed, '-days', '2', '-out', cert)
    return { cert, key }
  }

  /** PostgreSQL accepts only a key that no other user can read. */
  giveToServer({ key }: Certificate): void {
    const { uid, gid } = serverUser()
    if (uid !== undefined) chownSync(key, uid, gid ?? uid)
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
