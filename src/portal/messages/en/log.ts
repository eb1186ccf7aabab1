/** Texts of the delivery log. */
export const log = {
  title: 'Deliveries',
  total: { one: '{count} delivery', other: '{count} deliveries' },
  list: 'Deliveries, newest first',
  keys: 'Page Down and Page Up go from one delivery to the next. Control and Home go to the filters, Control and End leave the list.',
  end: 'End of the deliveries',
  filter: {
    label: 'Filter the deliveries',
    status: 'Status',
    anyStatus: 'All',
    eventType: 'Event type',
    anyType: 'All',
    eventId: 'Event id',
    clear: 'Clear filters'
  },
  empty: {
    title: 'No deliveries yet',
    text: 'Events appear here as soon as they happen. To see now whether your endpoint answers, send a test: tests are not listed.'
  },
  noMatch: {
    title: 'No delivery matches',
    text: 'Nothing was sent with this status, event type and event id.'
  },
  newer: { one: '{count} new delivery', other: '{count} new deliveries' },
  changed: 'Show the latest changes',
  status: {
    pending: 'Waiting',
    delivered: 'Delivered',
    failed: 'Given up',
    skipped: 'Skipped',
    cancelled: 'Cancelled'
  },
  attempts: { one: '{count} attempt', other: '{count} attempts' },
  answer: {
    timeout: 'No answer in time',
    connection: 'No connection',
    tls: 'No secure connection',
    blocked: 'Address not allowed',
    http_status: 'Answered {status}',
    none: 'Not sent yet',
    never: 'Not sent'
  },
  next: 'Next attempt {when}',
  due: 'Next attempt due'
}
