import type { Resource } from '../catalog/resources.ts'
import type { View } from '../catalog/views.ts'

/** Links are built from this path, not from the request's URL: clients share cached responses. */
export function resourcePath({ path }: Resource): string {
  return `/api/v1/${path}`
}

export function changesPath(resource: Resource): string {
  return `${resourcePath(resource)}/changes`
}

export function summaryPath(resource: Resource): string {
  return `${resourcePath(resource)}/summary`
}

export function batchPath(resource: Resource): string {
  return `${resourcePath(resource)}/batch`
}

export function adjustPath(resource: Resource): string {
  return `${resourcePath(resource)}/{id}/adjust`
}

/** A record by the value of a unique field. */
export function keyedPath(resource: Resource): string {
  return `${resourcePath(resource)}/{key}/{value}`
}

export function viewPath({ path }: View): string {
  return `/manage/v1/${path}`
}
