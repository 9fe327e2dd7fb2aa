import { deliveryErrors } from './de/delivery-errors.ts'
import { exchange } from './de/exchange.ts'
import { fieldLabels, fieldMeanings, nouns } from './de/fields.ts'
import { lists } from './de/lists.ts'
import { manage } from './de/manage.ts'
import type { Texts } from './texts.ts'

export const de: Texts = {
  locale: 'de',
  decimalSign: ',',
  nouns,
  fieldLabels,
  fieldMeanings,
  ...lists,
  deliveryErrors,
  ...exchange,
  ...manage,
}
