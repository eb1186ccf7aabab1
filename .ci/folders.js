/** The allowed imports between folders of src/; docs/architecture.md describes the folders. */
export const folders = {
  'core/ports': [],
  'core/shared': ['core/ports/', 'core/errors.js'],
  'core/api': ['core/ports/', 'core/shared/', 'core/errors.js'],
  'core/observe': ['core/ports/', 'core/shared/'],
  'core/keys': ['core/ports/', 'core/shared/', 'core/api/', 'core/errors.js'],
  'core/webhooks': ['core/ports/', 'core/shared/', 'core/api/', 'core/observe/', 'core/errors.js'],
  'core/http': ['core/ports/', 'core/shared/', 'core/api/', 'core/observe/', 'core/errors.js', 'core/keys/'],
  'around/portal': ['core/ports/', 'core/shared/', 'core/keys/', 'core/http/', 'around/client/'],
  'around/mcp': ['core/shared/', 'core/http/'],
  'storages/memory': ['core/ports/', 'core/shared/', 'core/errors.js', 'core/keys/'],
  'storages/postgres': ['core/ports/', 'core/shared/', 'core/api/', 'core/observe/', 'core/errors.js', 'core/keys/'],
  'around/testing': ['core/ports/', 'around/recorder/'],
  'around/recorder': [
    'core/ports/', 'core/shared/', 'core/api/', 'core/errors.js', 'storages/memory/', 'create-recruiting.js'
  ],
  'around/client': ['core/ports/'],
  'around/cli': [
    'core/ports/', 'core/shared/', 'core/api/', 'core/observe/', 'core/errors.js', 'core/webhooks/',
    'storages/postgres/', 'around/client/', 'create-recruiting.js'
  ]
}
