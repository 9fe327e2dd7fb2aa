import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findingsIn, findingsInSource, proseOf, rules } from './prose.ts'

/** Documents and messages are written by the rules in `.vale/`. A rule is precise: what it finds is always to be changed. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))
/** All documents except decision records, as in `.vale.ini`. */
const documents = tracked.filter((file) => file.endsWith('.md') && !/^docs\/adr\/\d/.test(file))
/** Where texts for users are: messages, help, pages. */
const sources = tracked.filter((file) =>
  /^(?:client|console|filter|server|site)\/(?:src\/.*|[\w-]+)(?<!\.test)\.tsx?$/.test(file),
)

it('no document has what a rule finds', () => {
  expect(documents.length).toBeGreaterThan(70)
  const inDocuments = documents.flatMap((file) =>
    findingsIn(read(file)).map(({ line, rule, message }) => `${file}:${line}: ${message} (${rule})`),
  )
  expect(inDocuments).toEqual([])
})

it('no message of the service, the clients, the console or the site has what a rule finds', () => {
  expect(sources.length).toBeGreaterThan(400)
  const inSources = sources.flatMap((file) =>
    findingsInSource(file, read(file)).map(
      ({ line, rule, message }) => `${file}:${line}: ${message} (${rule})`,
    ),
  )
  expect(inSources).toEqual([])
})

/** By rule: what it finds, and similar text that is right. */
const examples: Readonly<Record<string, readonly (readonly [wrong: string, right: string])[]>> = {
  AllowTo: [['Scopes allow to read a resource.', 'Scopes allow programs to read a resource.']],
  Also: [
    ['A weak one matches, too.', 'The header is empty, too long or repeated.'],
    ['It is removed, also after Ctrl-C.', 'A restart, at a quiet time, also replaces the process.'],
  ],
  Genitive: [
    ['It runs the commands of the operator.', 'It runs operator commands.'],
    ['The id of\nits account is 7.', 'The id of the account that you restore is 7.'],
    ['Open the host of the account.', "Open the account's host."],
  ],
  Has: [
    ['A URL can have up to 16 KB.', 'URLs are limited to 16 KB.'],
    ['The image has about 200 MB.', 'The image is about 200 MB.'],
  ],
  Idioms: [
    ['Run them one after the other.', 'Run them one at a time.'],
    ['The key beside it.', 'The key besides those.'],
  ],
  Longer: [['It does not have the ETag any more.', 'It needs no more than one.']],
  Negative: [
    ['Webhooks are part of no archive.', 'There is no archive.'],
    ['It is no key.', 'It is no longer a key.'],
    ['It follows no redirect.', 'It does not follow redirects.'],
  ],
  Own: [
    ['Certificates of an own authority.', 'Certificates of your own authority.'],
    ['Each has a folder of its own.', 'Each has its own folder, on its own.'],
  ],
  Plain: [['Use a key, e.g. this one.', 'Use a key, such as this one.']],
  Range: [['Ports from 1024 on are open.', 'Ports from 1024 on the host are open.']],
  Repeated: [['Send the the key.', 'Send the key that that host knows.']],
  Returns: [
    ['A wrong key gets 401.', 'With a wrong key a client gets 401.'],
    ['Other requests get 503.', 'Other requests return 503.'],
  ],
  Such: [['If it expires, such a webhook is paused.', 'It is for people who run such an API.']],
}

describe('rules', () => {
  it('have examples', () => {
    expect(Object.keys(examples)).toEqual(rules.map(({ name }) => name))
  })

  it.each(Object.entries(examples))('%s finds what is wrong, and only that', (rule, pairs) => {
    for (const [wrong, right] of pairs) {
      expect(
        findingsIn(wrong).map((finding) => finding.rule),
        wrong,
      ).toEqual([rule])
      expect(findingsIn(right), right).toEqual([])
    }
  })

  it('say what to write instead', () => {
    expect(findingsIn('Rows go\n\n- one after\n  the other.')).toEqual([
      {
        rule: 'Idioms',
        line: 3,
        found: 'one after the other',
        message: "Use 'one at a time' or 'in turn' instead of 'one after the other'.",
      },
    ])
  })

  it('apply to strings, templates and texts of JSX in a program', () => {
    const lines = [
      "const a = 'A page gets 401.'",
      'const b = `A page \u0024{a} gets 402.`',
      'const c = <p>A page gets 403.</p>',
    ]
    const source = `${lines.join('\n')}\n// A page gets 404.\nconst gets = 405`
    expect(findingsInSource('page.tsx', source).map(({ line, found: words }) => [line, words])).toEqual([
      [1, 'gets 401'],
      [2, 'gets 402'],
      [3, 'gets 403'],
    ])
  })

  it('do not apply to code, comments, targets and front matter', () => {
    const text = [
      '---\ntitle: gets 401\n---',
      '`gets 401` <!-- gets 402 -->',
      '```\ngets 403\n```',
      '[a](gets404(gets405).md) gets 406',
    ].join('\n')
    expect(findingsIn(text).map(({ line, found: words }) => [line, words])).toEqual([[8, 'gets 406']])
    expect(proseOf(text)).toHaveLength(text.length)
  })
})
