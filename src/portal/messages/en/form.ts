/** Texts of the form of a webhook. */
export const form = {
  create: {
    title: 'Add a webhook',
    intro: 'Tell us where to send requests, and about which events.',
    submit: 'Create webhook'
  },
  edit: {
    title: 'Edit webhook',
    submit: 'Save changes',
    saved: '{name} was saved'
  },
  name: {
    label: 'Name',
    hint: 'Only you see it.',
    example: 'CRM sync'
  },
  url: {
    label: 'Endpoint URL',
    hint: 'A public https address that accepts POST.'
  },
  events: {
    label: 'Events',
    hint: 'We send a request for each of these.',
    search: 'Search events',
    chosen: '{count} of {total} chosen',
    all: 'All of {group}',
    found: { one: '{count} event found', other: '{count} events found' },
    nothing: 'No event matches',
    example: 'Example',
    exampleOf: 'Example of {name}',
    gone: 'Not offered any more: remove it'
  },
  /** After the own checks of the page, or in place of an answer without details. */
  faults: {
    nameBlank: 'Enter a name, for example CRM sync',
    urlBlank: 'Enter the address of your endpoint',
    urlInvalid: 'Enter the whole address, for example https://hooks.example.com/recruiting',
    urlParts: 'Remove the user name, the password, and # with what follows it',
    urlHttps: 'Use an address that begins with https://',
    urlPublic: 'Use a public host name. We cannot reach addresses inside your network.',
    eventsNone: 'Choose at least one event',
    eventsGone: 'Remove the events that are not offered any more'
  },
  refused: {
    title: 'The service did not accept this',
    text: 'Check that the endpoint is a public https address, and that your account does not have too many webhooks.'
  },
  leave: {
    title: 'Leave without saving?',
    text: 'What you entered will be lost.',
    stay: 'Stay',
    leave: 'Leave'
  }
}
