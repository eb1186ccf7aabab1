/** The allowed imports between folders of src/; docs/architecture.md describes the folders. */
export const folders = {
  'core/ports': [],
  'core/shared': ['core/ports/', 'core/errors.js'],
  'core/observe': ['core/ports/', 'core/shared/'],
  'core/keys': ['core/ports/', 'core/shared/', 'core/errors.js'],
  'core/webhooks': ['core/ports/', 'core/shared/', 'core/observe/', 'core/errors.js'],
  'core/http': [
    'core/ports/',
    'core/shared/',
    'core/observe/',
    'core/errors.js',
    'core/keys/',
    'core/webhooks/operation-table.js',
    'core/webhooks/operations.js',
    'core/webhooks/options.js',
    'core/webhooks/events/catalogue.js',
    'core/webhooks/schemas.js'
  ],
  'around/portal': ['core/ports/', 'core/shared/', 'core/keys/', 'core/http/sessions.js', 'around/client/'],
  'around/mcp': ['core/shared/', 'core/http/'],
  'storages/memory': ['core/ports/', 'core/shared/', 'core/errors.js', 'core/keys/'],
  'storages/postgres': ['core/ports/', 'core/shared/', 'core/observe/', 'core/errors.js', 'core/keys/'],
  'around/testing': ['core/ports/', 'around/recorder/record-events.js'],
  'around/recorder': [
    'core/ports/',
    'core/shared/',
    'core/errors.js',
    'storages/memory/index.js',
    'core/webhooks/events/catalogue.js',
    'create-recruiting.js'
  ],
  'around/client': ['core/ports/'],
  'around/cli': ['core/ports/', 'core/shared/', 'core/observe/', 'core/errors.js', 'storages/postgres/', 'core/webhooks/', 'around/client/', 'create-recruiting.js']
}
