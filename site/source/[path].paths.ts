import { sourcePage, sources } from '../pages.ts'

export default {
  paths: () => sources.map((path) => ({ params: { path }, content: sourcePage(path) })),
}
