// An app for Zapier: one trigger for each event type of the API's document.

const { version: platformVersion } = require('zapier-platform-core')

/** Creates the app from the API's document. */
function createApp (document) {
  const triggers = Object.entries(document.webhooks).map(([type, { post }]) => createTrigger(type, post))
  return {
    version: '1.0.0',
    platformVersion,
    authentication: {
      type: 'custom',
      fields: [
        { key: 'url', label: 'API address', required: true, helpText: 'Such as https://ats.example.com/api/v1/public/acme' },
        { key: 'key', label: 'API key', required: true, type: 'password', helpText: 'With the scopes webhooks:read and webhooks:write' }
      ],
      test: async (z, bundle) => (await send(z, bundle, 'GET', '/api_key')).data,
      connectionLabel: '{{name}}'
    },
    beforeRequest: [(request, _z, { authData }) => {
      request.headers.authorization = `Bearer ${authData.key}`
      return request
    }],
    triggers: Object.fromEntries(triggers.map((trigger) => [trigger.key, trigger]))
  }
}

function createTrigger (type, { summary, requestBody }) {
  const label = type.replaceAll(/[._]/g, ' ').replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())
  return {
    key: type.replaceAll('.', '_'),
    noun: label,
    display: { label, description: `Triggers when: ${summary.replace(/\.$/, '')}.` },
    operation: {
      type: 'hook',
      performSubscribe: async (z, bundle) => {
        const body = { name: `Zapier: ${label}`, target_url: bundle.targetUrl, event_types: [type] }
        return (await send(z, bundle, 'POST', '/webhooks', body)).data
      },
      performUnsubscribe: async (z, bundle) => {
        await send(z, bundle, 'DELETE', `/webhooks/${bundle.subscribeData.id}`)
        return {}
      },
      // A retry and a replay have the same id.
      perform: (_z, { cleanedRequest }) => [cleanedRequest],
      performList: async (z, bundle) => {
        const { data } = await send(z, bundle, 'GET', '/event_types?per_page=200')
        const { example } = data.find(({ name }) => name === type) ?? {}
        return [{ ...sampleOf(type, requestBody), data: example ?? {} }]
      },
      sample: sampleOf(type, requestBody)
    }
  }
}

/** Returns an event with the examples of its schema. */
function sampleOf (type, { content }) {
  const { schema } = content['application/json']
  const [{ properties }] = schema.anyOf ?? [schema]
  const entries = Object.entries(properties).map(([name, { examples = [] }]) => [name, examples[0] ?? null])
  const fields = Object.fromEntries(entries.filter(([, value]) => value !== null))
  return { ...fields, type, data: properties.data?.examples?.[0] ?? {} }
}

/** Returns the body. Accepts a missing webhook: its owner may have deleted it. */
async function send (z, { authData }, method, path, body) {
  const response = await z.request({
    method,
    url: authData.url.replace(/\/$/, '') + path,
    ...(body === undefined ? {} : { body }),
    skipThrowForStatus: true
  })
  if (response.status >= 400 && !(method === 'DELETE' && response.status === 404)) {
    throw new z.errors.Error(response.data?.error?.message ?? `The API returned ${response.status}`, 'api', response.status)
  }
  return response.data ?? {}
}

module.exports = { createApp }
