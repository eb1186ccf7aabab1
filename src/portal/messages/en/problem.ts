/** Texts for failed requests: what happened, what to try. */
export const problem = {
  requestId: 'Request id',
  retryIn: {
    one: 'You can try again in {count} second.',
    other: 'You can try again in {count} seconds.'
  },
  bad_request: {
    title: 'Something in it is not valid',
    text: 'Check what you entered, and try again.'
  },
  unauthorized: {
    title: 'Your session is not valid any more',
    text: 'Open the webhooks from your settings again.'
  },
  forbidden: {
    title: 'You may not do this',
    text: 'Your session does not include this. Ask an administrator of your account.'
  },
  not_found: {
    title: 'This does not exist',
    text: 'It may have been deleted meanwhile. Go back to the list.'
  },
  conflict: {
    title: 'Somebody else changed this meanwhile',
    text: 'Load it again before you change it.'
  },
  rate_limited: {
    title: 'Too many requests',
    text: 'Wait a moment, then try again.'
  },
  unavailable: {
    title: 'The service is not available at the moment',
    text: 'This is usually short. Try again in a moment.'
  },
  internal_error: {
    title: 'The service could not do this',
    text: 'Try again. If it happens again, send the request id to support.'
  },
  network: {
    title: 'The service cannot be reached',
    text: 'Check your connection, then try again.'
  },
  timeout: {
    title: 'The service did not answer in time',
    text: 'It may have done it nevertheless. Check before you try again.'
  }
}
