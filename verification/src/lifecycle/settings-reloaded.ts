import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Check } from '../check.ts'
import { Client, headersFor } from '../client.ts'
import { grouped } from '../progress.ts'
import { outcomeOf, restartMsMax, restartsAccount, underLoad } from '../ship/restarts/restart-sighup.ts'
import { waitUntil } from '../wait-until.ts'

/** The file with settings is reread again and again under load: no request fails, and each version is in use afterwards, except invalid ones. */
export const settingsReloaded: Check = {
  name: 'reload',
  bound: '0 failed of ≥ 20,000',
  async run(context) {
    const client = new Client(1)
    let file = ''
    const write = (account: string, more = '') =>
      writeFileSync(file, `QUARTERMASTER_DEFAULT_ACCOUNT=${account}\n${more}`)
    const environment = (folder: string) => {
      file = join(folder, 'settings.env')
      write(restartsAccount)
      return { QUARTERMASTER_SETTINGS_FILE: file }
    }
    try {
      return await underLoad(async (target) => {
        const { server, log, load, key } = target
        // A host without a label leads to the default account, in which the key is valid or not.
        const headers = headersFor(restartsAccount, key).map((text) =>
          text === `${restartsAccount}.localhost` ? 'localhost' : text,
        )
        const status = async () =>
          (await client.send({ port: server.port, path: '/manage/v1/self', headers })).status
        const requests = context.size(20_000, 2_000)
        const wrong: string[] = (await status()) === 200 ? [] : ['the file was not read at the start']
        let [read, rejected] = [0, 0]
        while (read < 6 || rejected < 3 || load.generator.sent < requests) {
          const account = read % 2 === 0 ? 'nobody' : restartsAccount
          write(account)
          server.signal('SIGHUP')
          read++
          await waitUntil(() => log.lines('restarted').length === read, restartMsMax, 'no reload')
          const expected = account === restartsAccount ? 200 : 401
          const found = await status()
          if (found !== expected) wrong.push(`reload ${read}: ${found} instead of ${expected}`)
          write(account === restartsAccount ? 'nobody' : restartsAccount, 'QUARTERMASTER_DEFAULT_ACOUNT=x\n')
          server.signal('SIGHUP')
          rejected++
          await waitUntil(
            () => log.lines('settings-rejected').length === rejected,
            restartMsMax,
            'not rejected',
          )
          if ((await status()) !== expected) wrong.push(`after the rejected file ${rejected}`)
        }
        await load.end()
        const named = log
          .lines('settings-read')
          .filter((line) => JSON.stringify(line).includes('DEFAULT_ACCOUNT'))
        const { failed, sent } = load.generator
        return outcomeOf(target, {
          value: `${failed} failed of ${grouped(sent)}, ${read} files read, ${rejected} rejected`,
          ok: failed === 0 && wrong.length === 0 && sent >= requests && named.length === read,
          faults: wrong,
        })
      }, environment)
    } finally {
      client.close()
    }
  },
}
