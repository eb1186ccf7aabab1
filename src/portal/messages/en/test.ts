/** Texts of a test notification and its result. */
export const test = {
  action: 'Send a test',
  title: 'Send a test',
  text: 'We send one request now, without retries. It carries "test": true and no data, and is not counted as a failure.',
  eventType: 'Event type',
  send: 'Send test',
  again: 'Send again',
  waiting: 'Waiting for your endpoint, for at most 10 seconds',
  delivered: 'Delivered: your endpoint answered {status} in {duration}',
  answered: 'Your endpoint answered {status} after {duration}.',
  unanswered: 'No answer, after {duration}.',
  /** What went wrong, and what to try: by the error of the API. */
  errors: {
    timeout: { title: 'Your endpoint did not answer in time', text: 'Answer first and do the work later. If your server saw no request, look for a firewall that drops it.' },
    connection: { title: 'We could not connect', text: 'Check the host name and the port in the URL, and whether your server is running. Its log shows whether the request arrived.' },
    tls: { title: 'The secure connection failed', text: 'Check that the certificate has not expired and fits the host name, that your server sends the whole chain, and that it allows TLS 1.2 or later.' },
    blocked: { title: 'The address is not public', text: 'The host name leads to an address that we may not call. Use a public one.' },
    http_status: { title: 'Your endpoint refused the request', text: 'Only 200 to 299 counts as delivered. Look for this request in the log of your server.' }
  },
  /** More about some statuses. */
  statuses: {
    redirect: 'Redirects are not followed: use the final address.',
    credentials: 'Something in front of your endpoint asks for credentials, or your code refused the signature.',
    notFound: 'There is nothing at this path: check the URL.',
    method: 'This path does not accept POST requests: check the URL.',
    gone: 'For events, this answer disables the webhook.',
    busy: 'Your endpoint asks us to slow down.',
    server: 'An error in your code or in front of it. Its log tells more.'
  }
}
