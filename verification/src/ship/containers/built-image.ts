import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { documented } from '../../../../architecture/documented.ts'
import {
  type Capability,
  type Check,
  type Context,
  type Outcome,
  type Stoppable,
  shared,
} from '../../check.ts'
import { Podman } from './podman.ts'

const imageName = 'localhost/quartermaster:verification'

/** The image of this checkout, built by `deploy/image/build` on a base from Debian's packages. */
export class BuiltImage implements Stoppable {
  readonly name = imageName
  readonly podman: Podman
  /** Known to the build as a token of npm and as a password in its environment. */
  readonly secret: string
  readonly buildSeconds: number

  private constructor(podman: Podman, secret: string, buildSeconds: number) {
    this.podman = podman
    this.secret = secret
    this.buildSeconds = buildSeconds
  }

  static async build(context: Context): Promise<BuiltImage> {
    context.log('building the image')
    const podman = new Podman()
    try {
      const secret = randomBytes(20).toString('hex')
      const npmrc = join(podman.folder, 'npmrc')
      writeFileSync(npmrc, `${userConfig()}\n//registry.example/:_authToken=${secret}\n`)
      const started = performance.now()
      // Without a registry, on a base from Debian's packages.
      const build = documented('image-build').replace('quartermaster:0.1.0', `${imageName} debian`)
      await podman.bash(build, {
        NPM_CONFIG_USERCONFIG: npmrc,
        DATABASE_URL: `postgres://quartermaster:${secret}@db.example/quartermaster`,
      })
      return new BuiltImage(podman, secret, (performance.now() - started) / 1000)
    } catch (error) {
      await podman.stop()
      throw error
    }
  }

  async stop(): Promise<void> {
    await this.podman.stop()
  }
}

const builtImage = shared((context) => BuiltImage.build(context))

/** A check of the image. */
export function imageCheck(
  name: string,
  bound: string,
  run: (context: Context, image: BuiltImage) => Promise<Outcome>,
  needs: readonly Capability[] = [],
): Check {
  return {
    name,
    bound,
    needs: ['containers', ...needs],
    run: async (context) => run(context, await builtImage(context)),
  }
}

function userConfig(): string {
  try {
    return readFileSync(process.env['NPM_CONFIG_USERCONFIG'] ?? join(homedir(), '.npmrc'), 'utf8')
  } catch {
    return ''
  }
}
