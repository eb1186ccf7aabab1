// A trigger node for n8n: it starts a workflow for each event. Save your document first:
// curl https://ats.example.com/api/v1/public/openapi.json -o openapi.json

const { createHmac, timingSafeEqual } = require('node:crypto')

/** Creates the node from the API's document. */
function createNode (document) {
  const options = Object.entries(document.webhooks).map(([type, { post }]) =>
    ({ name: type, value: type, description: post.summary }))

  return class RecruitingTrigger {
    description = {
      displayName: 'Recruiting Trigger',
      name: 'recruitingTrigger',
      group: ['trigger'],
      version: 1,
      description: 'Starts the workflow when something happens in the ATS',
      defaults: { name: 'Recruiting Trigger' },
      inputs: [],
      outputs: ['main'],
      credentials: [{ name: 'recruitingApi', required: true }],
      webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
      properties: [
        { displayName: 'Events', name: 'eventTypes', type: 'multiOptions', required: true, default: [], options }
      ]
    }

    webhookMethods = {
      default: {
        async checkExists () {
          const { id } = this.getWorkflowStaticData('node')
          if (id === undefined) return false
          const { data } = await send(this, 'GET', `/webhooks/${id}`, undefined, true) ?? {}
          return data?.target_url === this.getNodeWebhookUrl('default')
        },
        async create () {
          const { data } = await send(this, 'POST', '/webhooks', {
            name: `n8n: ${this.getWorkflow().name ?? 'workflow'}`.slice(0, 255),
            target_url: this.getNodeWebhookUrl('default'),
            event_types: this.getNodeParameter('eventTypes')
          })
          Object.assign(this.getWorkflowStaticData('node'), { id: data.id, secret: data.secret })
          return true
        },
        async delete () {
          const stored = this.getWorkflowStaticData('node')
          if (stored.id !== undefined) await send(this, 'DELETE', `/webhooks/${stored.id}`, undefined, true)
          delete stored.id
          delete stored.secret
          return true
        }
      }
    }

    /** Verifies the signature (Standard Webhooks) and passes the event on. */
    async webhook () {
      const { rawBody } = this.getRequestObject()
      if (!isSigned(this.getHeaderData(), rawBody, this.getWorkflowStaticData('node').secret)) {
        this.getResponseObject().status(401).end()
        return { noWebhookResponse: true }
      }
      return { workflowData: [this.helpers.returnJsonArray([this.getBodyData()])] }
    }
  }
}

/** Sends a request with the credentials. With `mayBeMissing`, returns `null` for a 404. */
async function send (context, method, path, body, mayBeMissing = false) {
  const { url } = await context.getCredentials('recruitingApi')
  const request = { method, url: url.replace(/\/$/, '') + path, json: true, ...(body === undefined ? {} : { body }) }
  try {
    return await context.helpers.httpRequestWithAuthentication.call(context, 'recruitingApi', request)
  } catch (error) {
    if (mayBeMissing && [error.httpCode, String(error.response?.status)].includes('404')) return null
    throw error
  }
}

function isSigned (headers, body, secret = '') {
  const seconds = Number(headers['webhook-timestamp'])
  if (secret === '' || !(Math.abs(Date.now() / 1000 - seconds) <= 300)) return false
  const content = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`), Buffer.from(body)])
  const expected = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).update(content).digest()
  return String(headers['webhook-signature']).split(' ').some((part) => {
    const given = Buffer.from(part.replace(/^v1,/, ''), 'base64')
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

module.exports = { createNode }
Object.defineProperty(module.exports, 'RecruitingTrigger', {
  enumerable: true, get: () => createNode(require('./openapi.json'))
})
