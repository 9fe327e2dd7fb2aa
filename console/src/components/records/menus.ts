/** One file for all menus of a list: they are loaded together, after the first view. */
export { ColumnMenu } from './column-menu.tsx'
export { CopyMenu } from './copy-menu.tsx'
export { ExportMenu } from './export-menu.tsx'
export { ViewsMenu } from './views-menu.tsx'
