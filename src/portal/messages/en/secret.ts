/** Texts of the screen that shows a secret once. */
export const secret = {
  created: 'Your webhook is ready',
  rotated: 'Your new secret',
  intro: 'This secret proves that a request is ours. It is shown now and never again.',
  label: 'Signing secret',
  store: 'Keep it where your application keeps its secrets, for example in the environment variable WEBHOOK_SECRET. Never put it into code.',
  bothUntil: 'Until {time}, requests are signed with the old secret too. Deploy the new one before.',
  verify: {
    title: 'Verify each request',
    text: 'Use the body as it arrived, not parsed and written again. Answer with 204 at once and do the work later.',
    languages: 'Language',
    code: 'Code in {language}'
  },
  stored: 'I have stored it',
  leave: {
    title: 'Have you stored the secret?',
    text: 'It is not shown again. If you lose it, you have to rotate it.',
    stay: 'Stay',
    leave: 'Leave'
  }
}
