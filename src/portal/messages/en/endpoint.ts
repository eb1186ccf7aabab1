/** Texts of the page of one webhook. */
export const endpoint = {
  edit: 'Edit',
  details: {
    title: 'Details',
    url: 'Endpoint URL',
    events: 'Events',
    created: 'Created',
    updated: 'Changed'
  },
  health: {
    failing: 'Your endpoint has been failing since {time}',
    failingText: 'We try each event again for some days. If nothing gets through for too long, we disable the webhook. Send a test to see what is wrong.',
    waiting: 'We wait until {time} before we send more',
    waitingText: 'Your endpoint asked us to slow down, or did not answer. Nothing is lost.',
    gone: 'Disabled: your endpoint answered 410 Gone',
    goneText: 'This means that the address is gone for good. Correct the URL if it has changed, enable the webhook again and replay what it missed.',
    tooLong: 'Disabled: your endpoint failed for too long',
    tooLongText: 'Send a test and mend what it shows. Then enable the webhook again and replay what it missed.',
    inactive: 'Paused by your team',
    inactiveText: 'Events are recorded and not sent. Resume, then replay what it missed.'
  },
  actions: {
    title: 'Manage',
    pause: 'Pause',
    pauseText: 'Events are recorded and not sent until you resume. Then you can replay them.',
    pauseTitle: 'Pause {name}?',
    paused: '{name} is paused',
    resume: 'Resume',
    resumed: '{name} is active again',
    enable: 'Enable again',
    rotate: 'Rotate secret',
    rotateText: 'Get a new one, for example if others may know it.',
    delete: 'Delete',
    deleteText: 'Stops all deliveries. This cannot be undone.',
    deleteTitle: 'Delete {name}?',
    deleteAction: 'Delete webhook',
    deleted: '{name} was deleted'
  },
  rotate: {
    text: 'While the old secret is valid, each request is signed with both, so that you can deploy the new one without losing a request.',
    grace: 'How long the old secret stays valid',
    none: 'Not at all',
    noneText: 'Your endpoint refuses requests until it has the new one.',
    hour: '1 hour',
    day: '24 hours',
    week: '7 days',
    countdown: 'The old secret is valid for another {time}',
    ended: 'The old secret is not valid any more.'
  }
}
