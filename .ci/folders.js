/** The allowed imports between folders of src/; docs/architecture.md describes the folders. */
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
    'webhooks/operation-table.js',
    'webhooks/operations.js',
    'webhooks/options.js',
    'webhooks/events/catalogue.js',
    'webhooks/schemas.js'
  ],
  portal: ['ports/', 'shared/', 'keys/', 'http/sessions.js', 'client/'],
  mcp: ['shared/', 'http/'],
  memory: ['ports/', 'shared/', 'errors.js', 'keys/'],
  postgres: ['ports/', 'shared/', 'observe/', 'errors.js', 'keys/'],
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
