/** All texts of the portal in English. */
export const en = {
  /** Texts of the frame around every screen. */
  shell: {
    title: 'Webhooks',
    back: 'Back',
    cancel: 'Cancel',
    close: 'Close',
    copy: 'Copy',
    copied: 'Copied',
    copyByHand: 'Press Ctrl+C or ⌘C to copy',
    loading: 'Loading',
    working: 'Working',
    retry: 'Try again',
    readOnly: 'You can view everything here, but you cannot change it.',
    returnTo: 'Back to where you came from',
    pages: { label: 'Pages', previous: 'Previous', next: 'Next', position: 'Page {page} of {pages}' },
    confirm: { type: 'Type {name} to confirm', mismatch: 'The name does not match' },
    offline: { title: 'You are offline', text: 'This page resumes automatically once you are back online.' },
    /** For a link to another tenant's webhooks. */
    switch: {
      title: 'Switch to {name}?',
      text: 'A link is trying to open the webhooks of another account here. Switch only if you trust it. Unsaved changes will be lost.',
      accept: 'Switch',
      decline: 'Stay'
    },
    session: {
      none: 'Open this page from your settings',
      noneText:
        'There is no session here. For your security, a session ends when you leave or reload the page, and copied links do not contain it. Go back to your settings and open webhooks from there.',
      silent: 'No session yet',
      silentText: 'The page around this one did not respond. You may have to sign in there again.',
      ended: 'Your session has ended',
      endedText: 'Open webhooks from your settings again to continue.'
    }
  },
  problem: {
    requestId: 'Request id',
    retryIn: { one: 'You can try again in {count} second.', other: 'You can try again in {count} seconds.' },
    bad_request: { title: 'Some details are invalid', text: 'Check what you entered, and try again.' },
    unauthorized: { title: 'Your session is no longer valid', text: 'Open webhooks from your settings again.' },
    forbidden: {
      title: "You don't have permission",
      text: 'Your session does not allow this. Ask an administrator of your account.'
    },
    not_found: { title: 'Not found', text: 'It may have been deleted. Go back to the list.' },
    conflict: { title: 'Someone else has changed this', text: 'Reload it, then make your changes again.' },
    rate_limited: { title: 'Too many requests', text: 'Wait a moment, then try again.' },
    unavailable: { title: 'The service is unavailable', text: 'This usually passes quickly. Try again in a moment.' },
    internal_error: {
      title: 'Something went wrong on our side',
      text: 'Try again. If it keeps happening, send the request id to support.'
    },
    network: { title: 'Cannot reach the service', text: 'Check your connection, then try again.' },
    timeout: {
      title: 'The service did not respond in time',
      text: 'It may still have succeeded. Check before you try again.'
    }
  },
  endpoints: {
    intro: 'We send a signed request to your endpoints as soon as something happens.',
    add: 'Add webhook',
    list: 'Your webhooks',
    empty: {
      title: 'No webhooks yet',
      text: 'Enter the URL of an endpoint and choose the events it should receive. You get a secret to verify each request.',
      readOnly: 'Nobody has added one yet. Ask someone who can change settings.'
    },
    events: { one: '{count} event type', other: '{count} event types' },
    health: {
      active: 'Active',
      failing: 'Failing',
      paused: 'Paused',
      disabled: 'Disabled',
      held: 'Held',
      since: 'Since {time}',
      givenUp: { one: '{count} event not delivered', other: '{count} events not delivered' },
      inactive: 'Paused by your team',
      gone: 'The endpoint returned 410 Gone',
      failedTooLong: 'The endpoint failed for too long'
    }
  },
  form: {
    create: {
      title: 'Add a webhook',
      intro: 'Tell us where to send requests and for which events.',
      submit: 'Create webhook'
    },
    edit: { title: 'Edit webhook', submit: 'Save changes', saved: '{name} was saved' },
    name: { label: 'Name', hint: 'Visible only to your team.', example: 'CRM sync' },
    url: {
      label: 'Endpoint URL',
      hint: 'A public https address that accepts POST.',
      /** For sessions without the capability `bodies`. */
      closed: 'Only people who can see delivery bodies can change it.'
    },
    events: {
      label: 'Events',
      hint: 'We send a request for each of these events.',
      search: 'Search events',
      chosen: '{count} of {total} selected',
      all: 'All of {group}',
      found: { one: '{count} event found', other: '{count} events found' },
      nothing: 'No events match',
      example: 'Example',
      exampleOf: 'Example of {name}',
      gone: 'No longer available',
      deprecated: 'Deprecated since {since}.',
      deprecatedUntil: 'Deprecated. It will be removed on {sunset}.',
      deprecatedLink: 'What to use instead'
    },
    filters: {
      label: 'Filters',
      hint: 'Optional: send only events whose data matches every filter. Separate values with commas: one of them must match. Use quotes for text that contains a comma or looks like a number: "7".',
      fieldOf: 'Field of filter {nth}',
      valuesOf: 'Values of filter {nth}',
      values: 'Values',
      remove: 'Remove',
      removeOf: 'Remove filter {nth}',
      add: 'Add filter',
      /** How a filter's values are read, by type. */
      types: {
        number: 'Number: {values}',
        string: 'Text: {values}',
        boolean: 'True or false: {values}',
        null: 'Empty or missing'
      },
      matches: {
        one: 'The filters match {matching} of the last {count} event',
        other: 'The filters match {matching} of the last {count} events'
      },
      noEvents: 'There are no recent events of these types to compare with'
    },
    headers: {
      label: 'Headers',
      hint: 'Optional: headers that a gateway in front of your endpoint needs.',
      kept: 'Each request includes {names}. Values are not shown.',
      replace: 'Replace headers',
      nameOf: 'Name of header {nth}',
      valueOf: 'Value of header {nth}',
      value: 'Value',
      remove: 'Remove',
      removeOf: 'Remove header {nth}',
      add: 'Add header'
    },
    /** Errors that the page finds, and guesses for a response without details. */
    faults: {
      nameBlank: 'Enter a name, for example CRM sync',
      urlBlank: 'Enter the URL of your endpoint',
      urlInvalid: 'Enter the full URL, for example https://hooks.example.com/recruiting',
      urlParts: 'Remove the user name, the password, and everything from # on',
      urlHttps: 'Use a URL that starts with https://',
      urlPublic: 'Use a public host name. We cannot reach addresses inside your network.',
      eventsNone: 'Choose at least one event',
      eventsGone: 'Remove the events that are no longer available',
      headersIncomplete: 'Enter the name and the value of each header',
      headersName: 'Use only letters, digits and hyphens in header names',
      filtersIncomplete: 'Enter the field and the values of each filter',
      filtersPath: 'Start each field with data. and use at most 5 names, for example data.job_id',
      filtersTwice: 'Use each field only once: it can have several values',
      filtersMany: 'Use at most 50 values in a filter'
    },
    refused: {
      title: 'The service rejected this',
      text: 'Check that the endpoint is a public https address and that your account has not reached its webhook limit.'
    },
    restored: { title: 'Your unsaved changes are back', discard: 'Discard them' },
    leave: { title: 'Leave without saving?', text: 'Your input will be lost.', stay: 'Stay', leave: 'Leave' }
  },
  secret: {
    created: 'Your webhook is ready',
    rotated: 'Your new secret',
    intro: 'This secret proves that a request comes from us. It is shown only once.',
    label: 'Signing secret',
    store:
      'Keep it where your application keeps its secrets, for example in the environment variable WEBHOOK_SECRET. Never put it in code.',
    bothUntil: 'Until {time}, requests are also signed with the old secret. Deploy the new one before then.',
    verify: {
      title: 'Verify each request',
      text: 'Use the raw body, not one parsed and serialized again. Respond with 204 right away and do the work later.',
      languages: 'Language',
      code: 'Code in {language}'
    },
    stored: 'I have stored it',
    leave: {
      title: 'Have you stored the secret?',
      text: 'It will not be shown again. If you lose it, you must rotate it.',
      stay: 'Stay',
      leave: 'Leave'
    }
  },
  endpoint: {
    title: 'Webhook',
    edit: 'Edit',
    details: {
      title: 'Details',
      url: 'Endpoint URL',
      events: 'Events',
      created: 'Created',
      creator: 'Created by',
      updated: 'Changed',
      sourceIps: 'Notifications come from',
      sourceIpsHint: 'If a firewall protects your endpoint, allow these addresses.'
    },
    health: {
      failing: {
        title: 'Your endpoint has been failing since {time}',
        text: 'We retry each event for several days. If nothing gets through for too long, we disable the webhook. Send a test to see what is wrong.'
      },
      waiting: {
        title: 'Deliveries on hold until {time}',
        text: 'Your endpoint asked us to slow down or did not respond. Nothing is lost.'
      },
      held: {
        title: 'Nothing is being sent right now',
        text: 'We have stopped all notifications from this installation. Events are recorded. Your endpoint is not the cause.'
      },
      gone: {
        title: 'Disabled: your endpoint returned 410 Gone',
        text: 'This means that the address is permanently gone. Correct the URL if it has changed, enable the webhook again and replay the events it missed.'
      },
      tooLong: {
        title: 'Disabled: your endpoint failed for too long',
        text: 'Send a test and fix what it shows. Then enable the webhook again and replay the events it missed.'
      },
      inactive: {
        title: 'Paused by your team',
        text: 'Events are recorded but not sent. Resume, then replay the events it missed.'
      }
    },
    activity: {
      title: 'Last 24 hours',
      share: '{percent} delivered',
      counts: '{delivered} delivered, {failed} given up, {pending} waiting',
      none: 'No deliveries have finished.',
      latest: 'Of the latest {count} deliveries.',
      chart: 'Deliveries by hour',
      hour: '{time}: {delivered} delivered, {failed} given up'
    },
    actions: {
      title: 'Manage',
      pause: 'Pause',
      pauseText: 'Events are recorded but not sent until you resume. Then you can replay them.',
      pauseTitle: 'Pause {name}?',
      paused: '{name} is paused',
      resume: 'Resume',
      resumed: '{name} is active again',
      enable: 'Enable again',
      rotate: 'Rotate secret',
      rotateText: 'Get a new secret, for example if the old one may have leaked.',
      delete: 'Delete',
      deleteText: 'Stops all deliveries. This cannot be undone.',
      deleteTitle: 'Delete {name}?',
      deleteAction: 'Delete webhook',
      deleted: '{name} was deleted'
    },
    rotate: {
      text: 'While the old secret is valid, each request is signed with both, so you can deploy the new one without losing a request.',
      grace: 'How long the old secret stays valid',
      none: 'Expires immediately',
      noneText: 'Your endpoint rejects requests until it has the new one.',
      hour: '1 hour',
      day: '24 hours',
      week: '7 days',
      countdown: 'The old secret is valid for another {time}',
      ended: 'The old secret is no longer valid.'
    }
  },
  test: {
    action: 'Send a test',
    title: 'Send a test',
    text: 'We send one request now, without retries. It contains "test": true and example data. A failed test does not count against your endpoint.',
    eventType: 'Event type',
    send: 'Send test',
    again: 'Send again',
    waiting: 'Waiting for your endpoint, up to 10 seconds',
    delivered: 'Delivered: your endpoint returned {status} in {duration}',
    answered: 'Your endpoint returned {status} after {duration}.',
    unanswered: 'No response after {duration}.',
    /** The problem and its remedy, by the API's error code. */
    errors: {
      timeout: {
        title: 'Your endpoint did not respond in time',
        text: 'Respond first and do the work later. If your server saw no request, look for a firewall that drops it.'
      },
      connection: {
        title: 'We could not connect',
        text: 'Check the host name and port in the URL, and that your server is running. Its log shows whether the request arrived.'
      },
      tls: {
        title: 'The secure connection failed',
        text: 'Check that the certificate has not expired and matches the host name, that your server sends the full chain, and that it allows TLS 1.2 or later.'
      },
      blocked: {
        title: 'The address is not public',
        text: 'The host name resolves to an address that we may not call. Use a public one.'
      },
      held: {
        title: 'Nothing is being sent right now',
        text: 'We have stopped all notifications from this installation, so no request was made. Your endpoint is not the cause.'
      },
      unavailable: {
        title: 'We cannot reach any endpoint right now',
        text: 'Our network has a problem, so no request was made. Your endpoint is not the cause. Try again later.'
      },
      http_status: {
        title: 'Your endpoint rejected the request',
        text: 'Only 200 to 299 counts as delivered. Look for this request in your server log.'
      }
    },
    /** Advice for some response statuses. */
    statuses: {
      redirect: 'Redirects are not followed: use the final address.',
      credentials: 'Something in front of your endpoint asks for credentials, or your code rejected the signature.',
      notFound: 'There is nothing at this path: check the URL.',
      method: 'This path does not accept POST requests: check the URL.',
      gone: 'If your endpoint returns this for an event, we disable the webhook.',
      busy: 'Your endpoint asks us to slow down.',
      server: 'An error in your code or in front of it. Check the log there.'
    }
  },
  log: {
    title: 'Deliveries',
    total: { one: '{count} delivery', other: '{count} deliveries' },
    list: 'Deliveries, newest first',
    keys: 'Page Down and Page Up move between deliveries. Control+Home goes to the filters, Control+End leaves the list.',
    end: 'End of the deliveries',
    more: 'More deliveries load as you scroll',
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
      text: 'Events appear here as soon as they happen. To check your endpoint now, send a test. Tests are not listed here.'
    },
    noMatch: { title: 'No deliveries match', text: 'Nothing was sent with this status, event type and event id.' },
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
      timeout: 'Timed out',
      connection: 'Connection failed',
      tls: 'Secure connection failed',
      blocked: 'Address not allowed',
      http_status: 'Returned {status}',
      none: 'Not sent yet',
      never: 'Not sent'
    },
    next: 'Next attempt {when}',
    due: 'Next attempt due'
  },
  delivery: {
    title: 'Delivery',
    back: 'Back to the webhook',
    eventId: 'Event id',
    eventType: 'Event type',
    created: 'Recorded',
    deliveredAt: 'Delivered',
    next: 'Next attempt',
    due: 'Due now',
    outcome: {
      delivered: { one: 'Delivered on the first attempt.', other: 'Delivered after {count} attempts.' },
      failed: {
        one: 'We gave up after {count} attempt and will not retry automatically.',
        other: 'We gave up after {count} attempts and will not retry automatically.'
      },
      first: 'It will be sent in a moment.',
      pending: {
        one: '{count} attempt failed. We will retry automatically.',
        other: '{count} attempts failed. We will retry automatically.'
      },
      skipped: 'The webhook was not active, so nothing was sent.',
      cancelled: 'It will no longer be sent, because the event data was erased.'
    },
    attempts: {
      title: 'Attempts',
      none: 'Nothing has been sent yet.',
      number: 'Attempt {number}',
      duration: 'Took {duration}',
      excerpt: 'Start of the response'
    },
    request: {
      title: 'Request',
      label: 'Headers of the request',
      timestamp: 'new for each attempt',
      signature: 'new for each attempt',
      hidden: 'not shown',
      note: 'The command sends this request again, signed with the secret in your environment variable WEBHOOK_SECRET. If your endpoint accepts it but rejects our requests, the endpoint uses a different secret.',
      curl: 'Copy as curl'
    },
    body: {
      title: 'Body',
      label: 'Body of the request',
      note: 'Indented for reading. The Copy button copies the exact body.',
      hidden: 'Your session has no access to bodies and responses.',
      erased: {
        title: 'The data of this event was erased',
        text: 'Someone asked for their data to be deleted. Only this remains, and only this would be sent.'
      }
    },
    retry: {
      again: 'Send again',
      now: 'Try now',
      againSent: 'Sent again as a new delivery',
      nowSent: 'An attempt was started',
      open: 'Open the new delivery',
      inactive: { title: 'The webhook is not active', text: 'You can send it again once the webhook is active.' },
      toWebhook: 'Go to the webhook'
    }
  },
  replay: {
    open: 'Replay events',
    title: 'Replay events',
    intro: 'Sends past events again, with the same ids.',
    range: 'Time range',
    ranges: { hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days', own: 'Custom range' },
    since: 'From',
    until: 'To',
    untilNow: 'If empty: until now',
    include: 'Which events',
    undelivered: 'Not delivered',
    undeliveredHint: 'Given up or skipped',
    all: 'All',
    allHint: 'Includes delivered events: your endpoint receives them twice',
    types: 'Event types',
    typesHint: 'None selected: all that the webhook receives',
    invalid: { since: 'Enter a date and time', order: 'Must be before the end' },
    counting: 'Counting events',
    matches: { one: '{count} event will be sent', other: '{count} events will be sent' },
    none: 'There is nothing to send in this time range. Events that are still waiting will be sent anyway.',
    truncated: 'There are more. The oldest {count} will be sent now.',
    againUndelivered: 'Once they have been sent, replay again for the rest.',
    againAll: 'Then replay again with a later start to send the rest.',
    confirm: { one: 'Send {count} event', other: 'Send {count} events' },
    choose: 'Send events',
    queued: { one: '{count} event is on its way', other: '{count} events are on their way' },
    left: { one: '{count} delivery is still waiting', other: '{count} deliveries are still waiting' },
    ended: { one: 'Replay of {count} event finished', other: 'Replay of {count} events finished' },
    failed: 'No deliveries are waiting, but some have failed. The log shows why.',
    done: 'No deliveries are waiting. The log shows the result of each.',
    showLog: 'Show in the log',
    inactive: {
      title: 'The webhook is not active',
      text: 'Activate it first. Then you can replay the events it missed.'
    }
  },
  /** API keys for the tenant's programs. */
  keys: {
    sections: 'Parts of this page',
    title: 'API keys',
    intro: 'Your programs use these keys to call our API.',
    add: 'Create API key',
    empty: {
      title: 'No API keys yet',
      text: 'Create a key for each program that calls our API, with only the scopes it needs.'
    },
    from: 'Only from {networks}',
    candidateFields: 'Candidate fields: {fields}',
    jobFields: 'Job fields: {fields}',
    created: 'Created',
    createdBy: 'Created by {name}',
    lastUsed: 'Last used',
    never: 'never',
    rotate: 'Rotate',
    rotateTitle: 'Rotate {name}?',
    rotateText: 'You get a new key with the same scopes and limits. Deploy it while the old one still works.',
    grace: 'How long the old key stays valid',
    revoke: 'Revoke',
    revokeTitle: 'Revoke {name}?',
    revokeText: 'Programs that use this key stop working within seconds. This cannot be undone.',
    alsoKeys: 'Also revoke the keys that it created',
    alsoWebhooks: 'Also disable the webhooks that it created',
    revoked: '{name} was revoked. Keys that it created: {keys}. Webhooks that it created: {webhooks}.',
    state: {
      active: 'Active',
      replaced: 'Replaced',
      expired: 'Expired',
      revoked: 'Revoked',
      until: 'Valid until'
    },
    scopes: 'Scopes',
    noScope: 'Choose at least one scope',
    networks: 'Networks',
    networksHint: 'Where requests may come from, as CIDRs separated by commas. Leave it empty for any address.',
    days: 'Valid for (days)',
    daysHint: '1 to {days} days.',
    wrongDays: 'Enter a whole number from 1 to {days}',
    ready: 'Your API key is ready',
    readyText: 'Copy it now: we cannot show it again.',
    key: 'API key',
    previous: 'The old key works until {time}.'
  }
}
