import { describe, expect, it } from 'vitest'
import { mediaTypeOf } from './body.ts'

describe('mediaTypeOf', () => {
  it.each([
    ['application/json', 'application/json'],
    ['Application/JSON', 'application/json'],
    [' application/json ', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/json;charset="UTF-8"', 'application/json'],
    ['application/json;charset="utf\\-8"', 'application/json'],
    ['application/json; charset=utf8', 'application/json'],
    ['application/json ;; profile="a;b\\"c" ;', 'application/json'],
    ['text/plain', 'text/plain'],
  ])('%s is %s in UTF-8', (header, type) => {
    expect(mediaTypeOf(header)).toMatchObject({ type, hasOtherCharset: false })
  })

  it.each([
    'application/json; charset=iso-8859-1',
    'application/json;CHARSET="UTF-16"',
    'application/json; charset=us-ascii',
    'application/json; a=b; charset=latin1',
  ])('%s has another charset', (header) => {
    expect(mediaTypeOf(header)).toMatchObject({ type: 'application/json', hasOtherCharset: true })
  })

  it.each([
    undefined,
    '',
    'json',
    'application/',
    '/json',
    'application/json,text/plain',
    'application/json charset=utf-8',
    'application/json; charset',
    'application/json; charset=',
    'application/json; charset="utf-8',
    'application/json; charset=utf-8; charset=utf-8',
    'application/json; =utf-8',
    `application/json; a=${'x'.repeat(300)}`,
  ])('%s is malformed', (header) => {
    expect(mediaTypeOf(header)).toBeUndefined()
  })
})
