export { type Cache, type CacheEntry, MemoryCache } from './cache.ts'
export { Condition, type Fields } from './condition.ts'
export {
  BaseUrlInvalid,
  ConnectionFailed,
  IdempotencyConflict,
  NotFound,
  QuartermasterError,
  QueryTooSlow,
  RateLimited,
  RequestInvalid,
  ScopeMissing,
  ServiceFault,
  StreamTruncated,
  TimedOut,
  Unauthenticated,
  Unavailable,
  UnexpectedResponse,
} from './errors.ts'
export type { EndMarker } from './export-lines.ts'
export type { CreateOptions, Partners } from './partners.ts'
export { Quartermaster, type QuartermasterOptions } from './quartermaster.ts'
export type {
  AllOptions,
  ExportOptions,
  FilterOf,
  GetOptions,
  ListOptions,
  Page,
  Resource,
  Selected,
} from './resource.ts'
export type { CallOptions } from './sender.ts'
export { FilterText, filter, type TemplateValue } from './template.ts'
export type { Company, Fault, Meta, NewPartner, Pagination, Partner, Product } from './wire.ts'
