/** Texts of the list of webhooks. */
export const endpoints = {
  intro: 'We send a signed request to your endpoints as soon as something happens.',
  add: 'Add webhook',
  list: 'Your webhooks',
  empty: {
    title: 'No webhooks yet',
    text: 'Give us the address of an endpoint and choose the events it should receive. You get a secret to verify each request.',
    readOnly: 'Nobody has added one yet. Ask a person who may change settings.'
  },
  events: { one: '{count} event type', other: '{count} event types' },
  health: {
    active: 'Active',
    failing: 'Failing',
    paused: 'Paused',
    disabled: 'Disabled',
    since: 'Since {time}',
    givenUp: { one: '{count} event not delivered', other: '{count} events not delivered' },
    inactive: 'Switched off by your team',
    gone: 'The endpoint answered 410 Gone',
    failedTooLong: 'The endpoint failed for too long'
  }
}
