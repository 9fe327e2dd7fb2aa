import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { documented } from '../../../../architecture/documented.ts'
import type { OperatorMachine } from './machine.ts'
import { expectOutput } from './shell.ts'

/** The blocks of the chapters before incidents.md, in the order in which an operator reads them. */

const noProblems = /^No problems found\.$/m
/** A list of products that the service has returned. */
const productList = /"data":\[.*"meta":\{"count":\d+,"total":\d+\}/

export async function install(machine: OperatorMachine): Promise<void> {
  const { shell } = machine
  const installed = await shell.run(documented('install-packages'))
  expectOutput(installed, /^\d+\.\d+\.\d+$/m)
  await machine.sql(documented('database-roles'), 'postgres')
  const address = { 'localhost:5432': `127.0.0.1:${machine.postgres.port}` }
  const migrated = await shell.run(documented('database-setup'), address)
  expectOutput(migrated, /^applied 0001_accounts$/m, noProblems)

  const created = await shell.run(documented('first-account'))
  expectOutput(created, /^acme: active/m, /^qm_\w+$/m)
  shell.set('KEY', /^qm_\w+$/m.exec(created)?.[0] ?? '')
  await machine.serving(shell.another(), documented('first-serve'), machine.serveOnPort, async () => {
    const responses = await shell.run(documented('first-request'), machine.onPort)
    expectOutput(responses, /"status":"ok"/, /"data":\[\],"meta":\{"count":0,"total":0\}/)
  })
}

export async function configure({ shell, etc }: OperatorMachine): Promise<void> {
  const settings = await shell.run(documented('config'))
  expectOutput(settings, /^DATABASE_URL +postgres:\/\/quartermaster:\*+@\S+ +environment$/m)
  const terminal = shell.another()
  const masked = await terminal.run(documented('secret-file'), { '/etc/quartermaster': etc })
  expectOutput(masked, /^DATABASE_URL +postgres:\/\/quartermaster:\*+@\S+ +file/m)
  if (/choose-/.test(settings + masked)) throw new Error(`config prints a password:\n${settings}${masked}`)
  const mode = (statSync(join(etc, 'database-url')).mode & 0o777).toString(8)
  if (mode !== '600') throw new Error(`The file with the secret has mode ${mode}.`)
  expectOutput(await terminal.run('quartermaster doctor'), noProblems)
}

export async function hosts(machine: OperatorMachine): Promise<void> {
  const { shell } = machine
  await machine.serving(shell.another(), documented('serve-domain'), machine.serveOnPort, async () => {
    expectOutput(await shell.run(documented('request-by-host'), machine.onPort), productList)
    const unknown = { ...machine.onPort, 'acme.example.com': 'unknown.example.com' }
    expectOutput(await shell.run(documented('request-by-host'), unknown), /"status":401/)
  })
  await machine.serving(shell.another(), documented('serve-without-dns'), machine.serveOnPort, async () => {
    expectOutput(await shell.run(documented('request-without-dns'), machine.onPort), productList)
  })
}

export async function processes(machine: OperatorMachine): Promise<void> {
  const { shell } = machine
  const onPort = { '--port 8080': `--port ${machine.port}` }
  await machine.serving(shell.another(), documented('serve'), onPort, async () => {
    expectOutput(await shell.run(documented('health'), machine.onPort), /"status":"ok".*"status":"ok"/s)
  })
  expectOutput(await shell.run(documented('doctor-processes')), /\b2\b.* can open \d+ of the \d+/, noProblems)
  // Not one per CPU: this machine may have many.
  const twoProcesses = { ...onPort, '--processes auto': '--processes 2' }
  await machine.serving(shell.another(), documented('serve-processes'), twoProcesses, async () => {
    expectOutput(await shell.run(documented('health'), machine.onPort), /"status":"ok".*"status":"ok"/s)
  })
}

export async function watch(machine: OperatorMachine): Promise<void> {
  const ports = { ...machine.serveOnPort, '=9464': `=${machine.adminPort}` }
  await machine.serving(machine.shell.another(), documented('serve-admin'), ports, async () => {
    const metrics = await machine.shell.run(documented('metrics'), machine.onAdminPort)
    expectOutput(metrics, /^quartermaster_ready 1$/m, /^http_server_request_duration_seconds_count/m)
  })
}

export async function accounts({ shell }: OperatorMachine): Promise<void> {
  const created = await shell.run(documented('accounts'))
  expectOutput(created, /^qm_\w+$/m, /^keys: 1 valid of 1$/m, /product:read,partner:create +web shop$/m)
  const terminal = shell.another()
  terminal.set('KEY_ID', /^(\w+) +active .*web shop$/m.exec(created)?.[1] ?? '')
  expectOutput(await terminal.run(documented('key-rotate')), /^qm_\w+$/m, /revoked/)
  const suspended = await shell.run(documented('account-suspend'))
  expectOutput(suspended, /^globex: suspended/m, /^globex: active/m)
  const origins = await shell.run(documented('account-cors'))
  const both = 'origins of browsers: https://shop.example.com, http://localhost:5173\n'
  expectOutput(origins, new RegExp(`^${both}${both}origins of browsers: none$`, 'm'))
  const decided = await shell.run(documented('account-ids'))
  expectOutput(decided, /^globex product: external: .* 1 to 4294967295,/m, /^globex product: service: /m)
  const declared = await shell.run(documented('account-fields'))
  expectOutput(
    declared,
    /^Field product.x_barcode of globex, text, was declared\.$/m,
    /^Field .* was deleted\.$/m,
  )
  const keys = await shell.run(documented('account-keys'))
  expectOutput(
    keys,
    /^Field partner.x_customer of globex, text, was declared\.$/m,
    /^Field product.default_code of globex, text, is unique\.$/m,
  )
  const limited = await shell.run(documented('account-limit'))
  expectOutput(limited, /^requests per minute: 120000; per key: 20000$/m)
  expectOutput(limited, /^requests per minute: default; per key: 20000$/m)
  const quotas = await shell.run(documented('account-quotas'))
  expectOutput(
    quotas,
    /^quotas: 5000000 records .*, 2000000 results .*, 200000 audit entries$/m,
    /^used: 0 results .*, \d+ audit entries$/m,
    /^quotas: 2000000 records .*, 2000000 results .*, 200000 audit entries$/m,
  )
}

const products =
  'id,name,list_price,active\n1,Hex bolt,12.5,true\n2,"Washer & ""nut""",0.5,false\n3,Gear,99,true\n'

export async function records({ shell }: OperatorMachine): Promise<void> {
  const file = (name: string) => join(shell.folder, name)
  writeFileSync(file('products.csv'), products)
  writeFileSync(
    file('partners.ndjson.gz'),
    gzipSync('{"id":1,"name":"Nordwind"}\n{"id":2,"name":"Südwind"}\n'),
  )
  writeFileSync(file('companies.csv'), 'id,name,branch_user\n1,Acme,7\n')
  await shell.run(documented('import'))
  expectOutput(
    await shell.run('quartermaster account show acme'),
    /^company +1 /m,
    /^partner +2 /m,
    /^product +3 /m,
  )
  // It replaces the imported file by the records that match a filter.
  await shell.run(documented('export'))
  expectOutput(readFileSync(file('products.ndjson'), 'utf8'), /^\{"id":2,"name":"Washer & \\"nut\\""/m)
  expectOutput(
    readFileSync(file('products.csv'), 'utf8'),
    /id,name,list_price\r?\n1,"Hex bolt",12\.5\r?\n3,"Gear",99\r?\n$/,
  )
  expectOutput(await shell.run(documented('changes')), /^0 changes; continue with --since \S+$/m)
  expectOutput(
    readFileSync(file('first-copy.ndjson'), 'utf8'),
    /^\{"change":"created","id":1,"version":1,"etag":"[^}]*","record":\{"id":1,"name":"Hex bolt"\}\}\n/,
  )
}

export async function upgrade(machine: OperatorMachine): Promise<void> {
  const { shell } = machine
  await shell.run(documented('upgrade-migrate'))
  await machine.serving(shell.another(), documented('first-serve'), machine.serveOnPort, async () => {
    expectOutput(await shell.run(documented('upgrade-ready'), machine.onPort), /"status":"ok"/, noProblems)
  })
}

export async function capacity(machine: OperatorMachine): Promise<void> {
  await machine.sql('analyze')
  expectOutput(await machine.sql(documented('table-sizes')), /^ product +\| +3 \| \d+ kB/m)
}

export async function doctor(machine: OperatorMachine): Promise<void> {
  const { shell } = machine
  expectOutput(await shell.run(documented('doctor')), noProblems)
  await machine.sql(`update tally set total = total + 1 where resource = 'product' and total > 0`)
  const repaired = await shell.diagnose(documented('doctor-tallies'))
  expectOutput(repaired, /^✗ .*acme/m, /^✓ repaired: .*acme/m)
  expectOutput(await shell.run(documented('doctor-tallies')), noProblems)
}
