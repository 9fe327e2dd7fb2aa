export { type Cache, type CacheEntry, MemoryCache } from './cache.ts'
export type { Change } from './changes.ts'
export { Condition, type Fields } from './condition.ts'
export type { Decimals } from './decimals.ts'
export {
  BaseUrlInvalid,
  Conflict,
  ConnectionFailed,
  CursorExpired,
  IdempotencyConflict,
  NotFound,
  PreconditionFailed,
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
  WebhookInvalid,
} from './errors.ts'
export type { EndMarker } from './export-lines.ts'
export type {
  DeclaredFields,
  Keys,
  Manage,
  NewField,
  View,
  ViewOptions,
  ViewPage,
  Webhooks,
} from './manage.ts'
export type { Address, OwnFields, UniqueValue } from './own-fields.ts'
export { type Partners, Quartermaster, type QuartermasterOptions } from './quartermaster.ts'
export type {
  AllOptions,
  ChangesOptions,
  ExportOptions,
  FilterOf,
  GetOptions,
  ListOptions,
  Page,
  Resource,
  Selected,
  SyncOptions,
  WatchOptions,
} from './resource.ts'
export type { CallOptions } from './sender.ts'
export type { GroupName, Summary, SummaryGroup, SummaryOptions } from './summary.ts'
export type { SyncBatch, SyncState } from './sync.ts'
export { FilterText, filter, type TemplateValue } from './template.ts'
export type { KeyedRow, RejectedRow, RowFault, UpsertRow, UpsertTotals } from './upsert.ts'
export {
  type DeliveredChange,
  handleWebhook,
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookOptions,
} from './webhook.ts'
export type {
  Audit,
  Company,
  Delivery,
  Fault,
  Field,
  Key,
  KeyRotation,
  Meta,
  NewCompany,
  NewKey,
  NewKeyRequest,
  NewPartner,
  NewProduct,
  NewWebhookRequest,
  Pagination,
  Partner,
  Product,
  Request as LoggedRequest,
  SummaryMeta,
  Usage,
  Webhook,
  WebhookChange,
  WebhookReplay,
  WebhookSecret,
  WebhookTest,
} from './wire.ts'
export type {
  CreateOptions,
  DeleteOptions,
  UpsertByKeyOptions,
  UpsertOptions,
  WritableResource,
} from './writable-resource.ts'
