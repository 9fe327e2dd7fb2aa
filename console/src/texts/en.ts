import { deliveryErrors } from './en/delivery-errors.ts'
import { exchange } from './en/exchange.ts'
import { fieldLabels, fieldMeanings, nouns } from './en/fields.ts'
import { lists } from './en/lists.ts'
import { manage } from './en/manage.ts'

export const en = {
  /** For `lang` attributes, numbers and dates. */
  locale: 'en',
  decimalSign: '.',
  nouns,
  fieldLabels,
  fieldMeanings,
  ...lists,
  deliveryErrors,
  ...exchange,
  ...manage,
}
