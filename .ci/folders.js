/** What each folder of src/ may import from the others; docs/architecture.md says why. */
export const folders = {
  ports: [],
  shared: ['ports/', 'errors.js'],
  observe: ['ports/', 'shared/'],
  keys: ['ports/', 'shared/', 'errors.js'],
  webhooks: ['ports/', 'shared/', 'observe/', 'errors.js'],
  http: [
    'ports/',
    'shared/',
    'observe/',
    'errors.js',
    'keys/',
    'webhooks/operations.js',
    'webhooks/events/catalogue.js',
    'webhooks/schemas/'
  ],
  portal: ['ports/', 'shared/', 'http/sessions.js', 'webhooks/schemas/'],
  mcp: ['shared/', 'http/'],
  options: ['ports/', 'shared/', 'observe/', 'webhooks/', 'http/', 'portal/', 'mcp/options.js'],
  memory: ['ports/', 'shared/', 'errors.js', 'keys/'],
  postgres: ['ports/', 'shared/', 'errors.js', 'keys/'],
  testing: ['ports/', 'recorder/record-events.js'],
  recorder: [
    'ports/',
    'shared/',
    'errors.js',
    'memory/index.js',
    'webhooks/events/catalogue.js',
    'create-recruiting.js'
  ],
  client: ['ports/'],
  cli: ['ports/', 'shared/', 'observe/', 'errors.js', 'postgres/', 'webhooks/', 'client/', 'create-recruiting.js']
}
