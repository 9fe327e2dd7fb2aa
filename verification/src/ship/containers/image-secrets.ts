import { execFileSync } from 'node:child_process'
import { createReadStream, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type BuiltImage, imageCheck } from './built-image.ts'

/** Everything else in the image is unexpected: files of the checkout, of the base, or of the build. */
const expected = [
  /^app\/node_modules\//,
  /^etc\/(?:passwd|group|nsswitch\.conf)$/,
  // What Node loads: glibc and the C++ library.
  /^(?:usr\/)?lib(?:64)?\/(?:[\w-]+\/)?(?:ld-linux[\w-]*|lib(?:c|dl|m|gcc_s|pthread|stdc\+\+))\.so\.\d+$/,
  /^usr\/local\/bin\/node$/,
  /^usr\/share\/sbom\/quartermaster\.cdx\.json$/,
]

const packageManagers = 'apt apt-get dpkg npm npx corepack yarn pnpm pip'
const compilers = 'gcc cc g++ ld as make tsc esbuild node-gyp'
const tools = 'sh bash dash busybox curl wget'
const programs = new Set(`${packageManagers} ${compilers} ${tools}`.split(' '))
const secretFile = /^(?:\.env|\.npmrc|\.netrc|\.git|id_[a-z0-9]+|.*\.(?:pem|key|p12))$/
const testFile = /\.test\.[cm]?[jt]s$/

/**
 * Searches every layer, the configuration and the history of the image for the secrets that its build knew, and lists files that
 * must not be in it: package managers, compilers, shells, tests of the service, files with secrets, and everything unexpected.
 */
export const imageSecrets = imageCheck(
  'image_secrets',
  '0 secrets, 0 unexpected files',
  async (_context, image) => {
    const saved = await save(image)
    const layers = saved.files.filter((file) => file.endsWith('.tar'))
    const entries = layers.flatMap((layer) =>
      execFileSync('tar', ['--list', '--file', layer], { encoding: 'utf8', maxBuffer: 2 ** 28 })
        .split('\n')
        .map((path) => path.replace(/^\.?\//, ''))
        .filter((path) => path !== '' && !path.endsWith('/')),
    )
    const unexpected = entries.flatMap((path) => {
      const reason = whyUnexpected(path)
      return reason === undefined ? [] : [`${path}: ${reason}`]
    })
    const found = await Promise.all(
      saved.files.map(async (file) => ({
        secret: await contains(file, image.secret),
        // Source text of the service, which shows that the layers are not compressed.
        witness: await contains(file, 'isOnlyQuartermaster'),
      })),
    )
    const faults = [...saved.faults, ...missingInSbom(layers)]
    const secrets = found.filter(({ secret }) => secret).length
    const isComplete = layers.length > 0 && entries.length > 1000 && found.some(({ witness }) => witness)
    return {
      value: `${secrets} secrets, ${unexpected.length} of ${entries.length} files`,
      samples: entries.length,
      ok: secrets === 0 && unexpected.length === 0 && faults.length === 0 && isComplete,
      note: [
        `${layers.length} layers${isComplete ? '' : '; the search is not complete'}`,
        ...faults,
        ...unexpected.slice(0, 10),
      ].join('\n'),
    }
  },
)

function whyUnexpected(path: string): string | undefined {
  if (!expected.some((pattern) => pattern.test(path))) return 'not expected in the image'
  const name = basename(path)
  if (programs.has(name) || path.includes('/.bin/')) return 'a program'
  if (secretFile.test(name)) return 'may contain a secret'
  if (path.startsWith('app/node_modules/quartermaster/') && testFile.test(name)) return 'a test'
  return undefined
}

function missingInSbom(layers: readonly string[]): string[] {
  const [layer = ''] = layers
  const args = ['--extract', '--to-stdout', '--file', layer, 'usr/share/sbom/quartermaster.cdx.json']
  const text = execFileSync('tar', args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
  const { components }: { components: readonly { readonly purl: string }[] } = JSON.parse(text)
  return [
    'pkg:npm/fastify@',
    'pkg:npm/pg@',
    'pkg:generic/node@',
    'pkg:generic/openssl@',
    'pkg:generic/glibc@',
  ]
    .filter((start) => !components.some(({ purl }) => purl.startsWith(start)))
    .map((start) => `the SBOM lacks ${start}`)
}

interface Saved {
  /** The layers as tar files, the configuration with the environment and the history, the manifest. */
  readonly files: readonly string[]
  readonly faults: readonly string[]
}

async function save({ podman, name }: BuiltImage): Promise<Saved> {
  const folder = join(podman.folder, 'saved')
  mkdirSync(folder)
  await podman.run('save', '--format=docker-archive', `--output=${folder}/image.tar`, name)
  execFileSync('tar', ['--extract', '--file=image.tar'], { cwd: folder })
  execFileSync('rm', ['image.tar'], { cwd: folder })
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const manifest: readonly { readonly Config: string }[] = JSON.parse(
    readFileSync(join(folder, 'manifest.json'), 'utf8'),
  )
  const { config } = JSON.parse(readFileSync(join(folder, manifest[0]?.Config ?? ''), 'utf8'))
  const faults = [
    ...(config.User === '65532:65532' ? [] : [`the user is ${config.User}`]),
    ...(config.Entrypoint?.[0] === 'node' ? [] : [`the first process is ${config.Entrypoint?.[0]}`]),
    ...(config.Healthcheck === undefined ? ['there is no health check'] : []),
  ]
  return { files, faults }
}

async function contains(file: string, text: string): Promise<boolean> {
  let rest = ''
  for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: 2 ** 22 })) {
    const part = rest + String(chunk)
    if (part.includes(text)) return true
    rest = part.slice(-text.length)
  }
  return false
}
