/** The allowed imports between folders of src/; docs/architecture.md describes the folders. */
export const folders = {
  ports: [],
  shared: ['ports/', 'errors.js'],
  observe: ['ports/', 'shared/'],
  keys: ['ports/', 'shared/', 'errors.js'],
  webhooks: ['ports/', 'shared/', 'observe/', 'options/', 'errors.js'],
  http: [
    'ports/',
    'shared/',
    'observe/',
    'errors.js',
    'keys/',
    'options/',
    'webhooks/operation-table.js',
    'webhooks/operations.js',
    'webhooks/events/catalogue.js',
    'webhooks/schemas.js'
  ],
  portal: ['ports/', 'shared/', 'options/', 'http/sessions.js', 'client/'],
  mcp: ['shared/', 'options/', 'http/'],
  options: [
    'ports/',
    'shared/',
    'observe/',
    'keys/api-key.js',
    'webhooks/events/catalogue.js',
    'webhooks/ssrf/proxy.js',
    'http/host-routes.js',
    'portal/messages.js',
    'portal/theme.js'
  ],
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
