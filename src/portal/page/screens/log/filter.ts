import type { DeliveryQuery } from '../../api/api.js'
import type { DeliveryStatus } from '../../api/types.js'

/** Filters of the log; an empty text filters nothing. */
export interface LogFilter {
  status: DeliveryStatus | ''
  eventType: string
  eventId: string
}

export const noFilter: LogFilter = { status: '', eventType: '', eventId: '' }

export function isFiltered ({ status, eventType, eventId }: LogFilter): boolean {
  return status !== '' || eventType !== '' || eventId !== ''
}

export function toQuery ({ status, eventType, eventId }: LogFilter): DeliveryQuery {
  return {
    'filter[status]': status === '' ? undefined : status,
    'filter[event_type]': eventType || undefined,
    'filter[event_id]': eventId || undefined
  }
}
