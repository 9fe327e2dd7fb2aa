import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { collections } from '../../api/catalog.ts'
import { requestText } from './request-text.ts'

const origin = 'https://acme.example.com'
const parameters = { filter: `name="it's 5\\" & 3"|id>1`, fields: 'id,name', limit: '50' }

it('writes a URL that has the same parameters', () => {
  const url = new URL(requestText('URL', origin, collections.product, parameters))
  expect(url.pathname).toBe('/api/v1/inventory/product')
  expect(Object.fromEntries(url.searchParams)).toEqual(parameters)
})

it('quotes values for the shell', () => {
  const text = requestText('curl', origin, collections.product, parameters)
  const printed = execFileSync('bash', ['-c', text.replace('curl', 'printf "%s\\n"')], {
    encoding: 'utf8',
    env: { KEY: 'k' },
  })
  expect(printed.split('\n')).toContain(`filter=${parameters.filter}`)
  expect(printed.split('\n')).toContain('Authorization: Bearer k')
})

it('writes a call of the TypeScript client', () => {
  const text = requestText('TypeScript', origin, collections.company, parameters)
  const literal = /filter: (.*),\n/.exec(text)?.[1] ?? ''
  expect(execFileSync(process.execPath, ['-p', literal], { encoding: 'utf8' }).trimEnd()).toBe(
    parameters.filter,
  )
  expect(text).toContain("qm.companies.list({\n  fields: ['id', 'name'],\n")
})

it('passes the fields of the account to the TypeScript client, if the view names one', () => {
  const named = { ...parameters, fields: 'id,x_sku' }
  const text = requestText('TypeScript', origin, collections.product, named)
  expect(text).toContain("import { fields } from './fields.ts'\n")
  expect(text).toContain("apiKey: process.env.KEY ?? '', fields })\n")
  expect(requestText('TypeScript', origin, collections.product, parameters)).not.toContain('./fields.ts')
})

it('writes a Python program that parses', () => {
  const text = requestText('Python', origin, collections.product, parameters)
  execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.argv[1])', text])
  expect(text).toContain('os.environ["KEY"]')
})
