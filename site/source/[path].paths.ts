import { folderPage, folders } from '../pages.ts'

export default {
  paths: () => folders.map((path) => ({ params: { path }, content: folderPage(path) })),
}
