import { findAllowed } from '../accounts/allowed-origins.ts'
import { verifyKeys } from '../accounts/key-verifier.ts'
import { groupsOf } from '../activity/batch-writer.ts'
import { insertRequests } from '../activity/request-log.ts'
import { readChanged } from '../changes/check-statements.ts'
import { batchWrites } from '../import/batch-writes.ts'
import { settingsFor } from '../lists/exports/export-copy.ts'
import { batchStatements } from '../lists/record-reader.ts'
import { deleteValues } from '../query/sql/value-sets.ts'
import { candidatePages } from '../webhooks/candidates.ts'
import { deliveryStore } from '../webhooks/delivery-store.ts'
import { deleteLocked, patchLocked } from '../writes/change-record.ts'
import { insertBatched, insertRecord } from '../writes/create-record.ts'
import { accountsWithImages } from '../writes/journal-sweep.ts'
import { deleteKeys } from '../writes/record-keys.ts'
import { lockTally } from '../writes/tick.ts'
import { groupsByAccount, insertRequestValues } from './activity.ts'
import { findAllowedByAccount } from './allowed-origins.ts'
import { batchWritesByTable } from './batch-writes.ts'
import { readChangedRows } from './changed-tallies.ts'
import { settingsOnBoth } from './export-settings.ts'
import { accountsWithImagesGrouped } from './images.ts'
import { verifyKeysByAccount } from './key-verifications.ts'
import { deleteKeysByValue } from './keys.ts'
import { lockTallyWithSeries } from './lock-tally.ts'
import { statementsByAccount } from './record-statements.ts'
import { deleteValuesById } from './values.ts'
import { candidatePagesOfReachable, deliveryStoreByTable } from './webhooks.ts'
import {
  deleteLockedByTable,
  insertOwnTransaction,
  insertRecordByTable,
  patchLockedByTable,
} from './writes.ts'

/** Every operation that differs on Citus, and what replaces it. A replacement has the type of what it replaces. */
export const forms: ReadonlyMap<object, object> = new Map([
  form(verifyKeys, verifyKeysByAccount),
  form(findAllowed, findAllowedByAccount),
  form(batchStatements, statementsByAccount),
  form(settingsFor, settingsOnBoth),
  form(insertBatched, insertOwnTransaction),
  form(insertRecord, insertRecordByTable),
  form(lockTally, lockTallyWithSeries),
  form(patchLocked, patchLockedByTable),
  form(deleteKeys, deleteKeysByValue),
  form(deleteValues, deleteValuesById),
  form(deleteLocked, deleteLockedByTable),
  form(batchWrites, batchWritesByTable),
  form(accountsWithImages, accountsWithImagesGrouped),
  form(readChanged, readChangedRows),
  form(candidatePages, candidatePagesOfReachable),
  form(deliveryStore, deliveryStoreByTable),
  form(groupsOf, groupsByAccount),
  form(insertRequests, insertRequestValues),
])

function form<Operation extends object>(
  plain: Operation,
  replacement: NoInfer<Operation>,
): readonly [object, object] {
  return [plain, replacement]
}
