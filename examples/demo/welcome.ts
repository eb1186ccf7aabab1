import { demoKeys } from './ats/keys.js'
import { describeRetries } from './ats/retries.js'
import type { Tenant } from './data/tenants.js'

export interface WelcomeParts {
  pageUrl: string
  apiUrl: string
  receiverUrl: string
  hasReferencePage: boolean
  tenants: readonly Tenant[]
  /** The first webhook of acme. */
  webhookId: number
}

/** Formats the welcome text: addresses, keys, and commands to paste. */
export function formatWelcome (parts: WelcomeParts): string {
  const { pageUrl, apiUrl, receiverUrl, hasReferencePage, tenants } = parts
  const sizes = tenants.map(
    ({ slug, candidates, jobs }) => `${slug} (${candidates.length} candidates, ${jobs.length} jobs)`
  )
  const keys = Object.values(demoKeys).map(({ key, note }) => `  ${key.padEnd(20)}${note}`)
  const commands = listCommands(parts).flatMap(([title, command]) => [`  ${title}`, `    ${command}`, ''])
  return [
    '',
    `An ATS with two tenants: ${sizes.join(' and ')}`,
    '',
    `  Open this     ${pageUrl}/`,
    `  The API       ${apiUrl}/<tenant_slug>`,
    `  OpenAPI       ${apiUrl}/openapi.json${hasReferencePage ? ` (as a page: ${pageUrl}/reference/)` : ''}`,
    `  The receiver  ${receiverUrl}/<tenant_slug>. It receives the webhooks of both tenants, verifies every request, and`,
    '                returns 500 for one event in ten to show a retry.',
    `  Retries       ${describeRetries().join('\n                ')}`,
    '',
    'API keys',
    '',
    ...keys,
    '',
    'Paste these into another terminal. Press Ctrl-C to stop the demo.',
    '',
    ...commands,
    `The demo now simulates recruiters at work. Watch it at ${pageUrl}/`,
    ''
  ].join('\n')
}

function listCommands ({ apiUrl, receiverUrl, webhookId }: WelcomeParts): Array<[title: string, command: string]> {
  const acme = `${apiUrl}/acme`
  const webhook = `${acme}/webhooks/${webhookId}`
  const read = authorize(demoKeys.acmeReadOnly.key)
  const full = authorize(demoKeys.acme.key)
  const other = authorize(demoKeys.globex.key)
  return [
    ['The most recently changed candidates, with links to the other pages.',
      `curl -i '${acme}/candidates?sort=-updated_at&per_page=3' ${read}`],
    ['A search by name. é also finds É. Without -g, curl would expand the brackets.',
      `curl -g '${acme}/candidates?filter[q]=%C3%A9lodie' ${read}`],
    ['The same search, encoded by curl.',
      `curl -G '${acme}/candidates' --data-urlencode 'filter[q]=élodie' ${read}`],
    ['Page 2 of one recruiter\'s candidates.',
      `curl -g '${acme}/candidates?filter[recruiter_id]=12&per_page=5&page=2' ${read}`],
    ['Published jobs, by name.',
      `curl -g '${acme}/jobs?filter[status]=published&sort=name' ${read}`],
    ['A page size above the maximum: 400, with the reason.',
      `curl '${acme}/jobs?per_page=500' ${read}`],
    ['A key without the scope: 403.',
      `curl '${acme}/webhooks' ${read}`],
    ['A key of another tenant: 401, the same response as without a key.',
      `curl '${acme}/candidates' ${other}`],
    ['The webhook that the demo created.',
      `curl '${webhook}' ${full}`],
    ['A test event. It appears here right away.',
      `curl -X POST '${webhook}/dispatch_test' ${full}`],
    ['A forged event, sent without the secret: the receiver rejects it.',
      `curl -i '${receiverUrl}/acme' -H 'Content-Type: application/json' -d '{"type":"application.hired"}'`],
    ['A new secret. For a day, deliveries have signatures with both secrets, so the receiver still verifies them.',
      `curl -X POST '${webhook}/rotate_secret' ${full}`],
    ['The delivery log, latest first.',
      `curl '${webhook}/deliveries?per_page=3' ${full}`],
    ['Send everything again. The receiver recognizes the ids and ignores the duplicates.',
      `curl '${webhook}/replay' ${full} -H 'Content-Type: application/json' -d '{"include":"all"}'`]
  ]
}

function authorize (key: string): string {
  return `-H 'Authorization: Bearer ${key}'`
}
