/**
 * The allowed imports between folders of src/, by path; `*` stands for the files of src/ itself. docs/architecture.md
 * describes the folders.
 */
export const folders = {
  'core/ports': [],
  'core/shared': ['core/ports'],
  'core/api': ['core/ports', 'core/shared'],
  'core/observe': ['core/ports', 'core/shared'],
  'core/keys': ['core/ports', 'core/shared', 'core/api'],
  'core/webhooks': ['core/ports', 'core/shared', 'core/api', 'core/observe'],
  'core/http': ['core/ports', 'core/shared', 'core/api', 'core/observe', 'core/keys'],
  'storages/memory': ['core/ports', 'core/shared', 'core/keys'],
  'storages/postgres': ['core/ports', 'core/shared', 'core/api', 'core/observe', 'core/keys'],
  'around/portal': ['core/ports', 'core/shared', 'core/keys', 'core/http', 'around/client'],
  'around/mcp': ['core/shared', 'core/api', 'core/http'],
  'around/client': ['core/ports', 'core/shared', 'core/api'],
  'tools/recorder': ['core/ports', 'core/shared', 'core/api', 'storages/memory', '*'],
  'tools/testing': ['core/ports', 'tools/recorder'],
  'tools/cli': [
    'core/ports', 'core/shared', 'core/api', 'core/observe', 'core/webhooks', 'storages/postgres', 'around/client', '*'
  ]
}
