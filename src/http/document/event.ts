import { type TObject, Type } from '@sinclair/typebox'
import { DateTimeOf } from '../../shared/schemas.js'
import { eventIdExample } from '../../webhooks/schemas/examples.js'
import type { Components } from './components.js'
import { describeDefaults } from './defaults.js'
import { exampleOf } from './example.js'

/** Headers of every notification, as components. */
export const signatureParameters = {
  'webhook-id': formatHeader('webhook-id', "The event's id, the same at every attempt and replay: deduplicate by it", eventIdExample),
  'webhook-timestamp': formatHeader('webhook-timestamp', 'When this attempt was signed, in seconds since the epoch', '1767225600'),
  'webhook-signature': formatHeader(
    'webhook-signature',
    'One v1,<base64> for each secret that is valid, separated by spaces (Standard Webhooks 1.0)',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='
  )
}

function formatHeader (name: string, description: string, example: string): object {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example }
}

/** Formats the notification of an event, and the meaning of the receiver's answers. */
export function formatEvent (name: string, { description: summary = name, ...data }: TObject, components: Components): object {
  const body = Type.Object({
    id: Type.String({ description: 'Equal to the header webhook-id', examples: [eventIdExample] }),
    type: Type.Literal(name),
    timestamp: DateTimeOf('When it happened'),
    tenant_slug: Type.String({ description: 'The tenant of the event', examples: ['acme'] }),
    data: Type.Unsafe(describeDefaults(data, { isFilledIn: false })),
    test: Type.Optional(Type.Literal(true, { description: 'Present only in test notifications, which receivers should ignore' }))
  })
  return {
    operationId: `on.${name}`,
    tags: ['events'],
    summary,
    description: 'Sent at least once to every active webhook that subscribes to it. The order is not guaranteed.',
    security: [],
    parameters: Object.keys(signatureParameters).map((header) => ({ $ref: `#/components/parameters/${header}` })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: components.schema(body), example: { ...exampleOf(body) as object, data: exampleOfData(data) } } }
    },
    responses: {
      '2XX': { description: 'Delivered, whatever the body' },
      410: { description: 'Disables the webhook' },
      default: { description: 'Not delivered; will be retried' }
    }
  }
}

/** Shows an object with an id if the schema accepts any object. */
function exampleOfData (data: TObject): unknown {
  return Object.keys(data.properties).length === 0 && data.examples === undefined ? { id: 1 } : exampleOf(data)
}
