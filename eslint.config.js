import neostandard, { plugins, resolveIgnoresFromGitignore } from 'neostandard'

/** What each room of src/ may import from the others; docs/architecture.md says why. */
const rooms = {
  ports: [],
  shared: ['ports/', 'errors.js'],
  observe: ['ports/', 'shared/'],
  keys: ['ports/', 'shared/', 'errors.js'],
  webhooks: ['ports/', 'shared/', 'observe/', 'errors.js'],
  http: ['ports/', 'shared/', 'observe/', 'errors.js', 'keys/', 'webhooks/operations.js', 'webhooks/events/catalogue.js', 'webhooks/schemas/'],
  portal: ['ports/', 'shared/', 'http/sessions.js', 'http/answers/etag.js'],
  options: ['ports/', 'shared/', 'observe/', 'webhooks/', 'http/', 'portal/'],
  memory: ['ports/', 'shared/', 'errors.js', 'keys/'],
  postgres: ['ports/', 'shared/', 'errors.js', 'keys/'],
  testing: ['ports/'],
  cli: ['ports/', 'shared/', 'errors.js', 'postgres/', 'webhooks/', 'create-recruiting.js']
}

/** Refuses imports from other rooms than those, in the files of a room and in those of its folders. */
const directions = Object.entries(rooms).flatMap(([room, allowed]) => [['*.ts', '../'], ['*/*.ts', '../../']].map(([files, up]) => {
  const regex = `^${up}(?!\\.\\./|${allowed.join('|') || '$'})`
  const message = `src/${room} imports from ${allowed.join(', ') || 'no other room'} alone.`
  return { files: [`src/${room}/${files}`], rules: { 'no-restricted-imports': ['error', { patterns: [{ regex, message }] }] } }
}))

export default [
  ...neostandard({ ts: true, ignores: resolveIgnoresFromGitignore() }),
  {
    rules: {
      'no-restricted-properties': ['error', {
        object: 'URL', property: 'canParse', message: 'On Node 20 and 22 it rejects é and ß after some thousand calls: try new URL(text).'
      }]
    }
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { '@typescript-eslint': plugins['typescript-eslint'].plugin },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      // A schema and its type share a name; the compiler refuses what is declared twice by mistake.
      '@typescript-eslint/no-redeclare': 'off',
      // Knows nothing of state that another function changes.
      'no-unmodified-loop-condition': 'off'
    }
  },
  {
    files: ['examples/demo/page/**'],
    languageOptions: {
      globals: Object.fromEntries(['addEventListener', 'document', 'location', 'navigator', 'fetch', 'EventSource', 'performance'].map((name) => [name, 'readonly']))
    }
  },
  // Handlers are named for what they do.
  { files: ['src/portal/page/**'], rules: { 'react/jsx-handler-names': 'off' } },
  {
    files: ['examples/reference/**'],
    languageOptions: {
      globals: Object.fromEntries(['document', 'matchMedia', 'sessionStorage', 'SwaggerUIBundle'].map((name) => [name, 'readonly']))
    }
  },
  { files: ['src/**'], rules: { 'no-console': 'error', 'max-depth': ['error', 3] } },
  ...directions,
  {
    files: ['src/*.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: [{ regex: '^\\./(memory|postgres|testing)/', message: 'Hosts import the adapters and the kit by themselves.' }] }] }
  }
]
