import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Stoppable, shared } from '../check.ts'
import { type ServerProcess, Service } from '../service.ts'

export const account = 'acme'

/** A service with one account, which is the default account: `fetch` cannot set the Host header. */
export class Fixture implements Stoppable {
  readonly service: Service
  readonly key: string
  readonly server: ServerProcess

  private constructor(service: Service, key: string, server: ServerProcess) {
    this.service = service
    this.key = key
    this.server = server
  }

  static async start(): Promise<Fixture> {
    const service = await Service.start()
    try {
      const key = await service.account(account)
      return new Fixture(service, key, await service.serve({ QUARTERMASTER_DEFAULT_ACCOUNT: account }))
    } catch (error) {
      await service.stop()
      throw error
    }
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.server.port}`
  }

  async import(resource: 'product' | 'partner', rows: Iterable<object>): Promise<void> {
    const file = join(this.service.folder, `${resource}.ndjson`)
    writeFileSync(file, Array.from(rows, (row) => `${JSON.stringify(row)}\n`).join(''))
    await this.service.command(['import', resource, file, '--account', account])
  }

  stop(): Promise<void> {
    return this.service.stop()
  }
}

export async function startWithThreeProducts(): Promise<Fixture> {
  const fixture = await Fixture.start()
  await fixture.import('product', [
    { id: 1, name: 'Hex bolt', list_price: 12.5 },
    { id: 2, name: 'Washer & "nut"', list_price: 0.5 },
    { id: 3, name: 'Gear', list_price: 99 },
  ])
  return fixture
}

/** For checks that only read. */
export const smallFixture = shared(startWithThreeProducts)
