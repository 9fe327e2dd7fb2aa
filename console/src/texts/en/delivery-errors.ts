import type { DeliveryError } from '../../api/delivery-errors.ts'

/** Why deliveries failed, by code. None: as the service says. */
export const deliveryErrors: Readonly<Record<string, DeliveryError>> = {}
