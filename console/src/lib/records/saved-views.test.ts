import { expect, it } from 'vitest'
import { readViews, removeView, saveView } from './saved-views.ts'

function storage(initial?: string) {
  const items = new Map<string, string>(initial === undefined ? [] : [['quartermaster.views', initial]])
  return {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, text: string) => void items.set(name, text),
  }
}

it('saves, replaces and removes a view', () => {
  const local = storage()
  const view = { name: 'Cheap', page: 'products', search: '?filter=list_price<5' }
  saveView(view, local)
  saveView({ ...view, search: '?filter=list_price<6' }, local)
  expect(readViews(local)).toEqual([{ ...view, search: '?filter=list_price<6' }])
  removeView(view, local)
  expect(readViews(local)).toEqual([])
})

it('ignores what is not a list of views', () => {
  expect(readViews(storage('{'))).toEqual([])
  expect(readViews(storage('[{"name":1},null]'))).toEqual([])
})
