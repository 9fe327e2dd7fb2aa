/** One file for panels and dialogs: they are loaded together, when the first of them is opened. */
export { CreatePartner } from './create-partner.tsx'
export { KeyActions, KeyAudit } from './key-details.tsx'
export { KeyDialogs } from './key-dialogs.tsx'
export { LoggedRequest } from './logged-request.tsx'
export { RecordPanel } from './record-panel.tsx'
export { RequestPanel } from './request-panel.tsx'
