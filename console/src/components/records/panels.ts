/** One file for panels and dialogs: they are loaded together, when the first of them is opened. */

export { FieldActions } from '../fields/field-details.tsx'
export { FieldDialogs } from '../fields/field-dialogs.tsx'
export { KeyActions, KeyAudit } from '../keys/key-details.tsx'
export { KeyDialogs } from '../keys/key-dialogs.tsx'
export { DeliveryAttempts, DeliveryOutcome } from '../webhooks/delivery-details.tsx'
export { WebhookActions, WebhookReceiver } from '../webhooks/webhook-details.tsx'
export { WebhookDialogs } from '../webhooks/webhook-dialogs.tsx'
export { CreateRecord } from './create-record.tsx'
export { DeleteRecord } from './delete-record.tsx'
export { LoggedRequest } from './logged-request.tsx'
export { RecordPanel } from './record-panel.tsx'
export { RequestPanel } from './request-panel.tsx'
