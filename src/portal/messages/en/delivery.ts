/** Texts of one delivery. */
export const delivery = {
  back: 'Back to the webhook',
  eventId: 'Event id',
  eventType: 'Event type',
  created: 'Recorded',
  deliveredAt: 'Delivered',
  next: 'Next attempt',
  due: 'Due now',
  outcome: {
    delivered: { one: 'Delivered at the first attempt.', other: 'Delivered after {count} attempts.' },
    failed: { one: 'It is not sent again by itself, after {count} attempt.', other: 'It is not sent again by itself, after {count} attempts.' },
    first: 'It is sent in a moment.',
    pending: { one: '{count} attempt failed. We try again by ourselves.', other: '{count} attempts failed. We try again by ourselves.' },
    skipped: 'The webhook was not active, so nothing was sent.',
    cancelled: 'It is not sent any more, because the data of the event was erased.'
  },
  attempts: {
    title: 'Attempts',
    none: 'Nothing was sent so far.',
    number: 'Attempt {number}',
    duration: 'Took {duration}',
    excerpt: 'Beginning of the answer'
  },
  body: {
    title: 'Body',
    label: 'Body of the request',
    note: 'Indented for reading. Copy gives exactly what is sent.',
    hidden: 'Your session may not see bodies and answers.',
    erasedTitle: 'The data of this event was erased',
    erasedText: 'Somebody asked for their data to be deleted. This is all that is left, and all that would be sent.'
  },
  retry: {
    again: 'Send again',
    now: 'Try now',
    againSent: 'Sent again as a new delivery',
    nowSent: 'An attempt was started',
    open: 'Open the new delivery',
    inactiveTitle: 'The webhook is not active',
    inactiveText: 'It can be sent again once the webhook is switched on.',
    toWebhook: 'Go to the webhook'
  }
}
