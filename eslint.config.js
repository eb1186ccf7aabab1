import neostandard, { plugins, resolveIgnoresFromGitignore } from 'neostandard'

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
    files: ['**/*.ts'],
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
  {
    files: ['examples/reference/**'],
    languageOptions: {
      globals: Object.fromEntries(['document', 'matchMedia', 'sessionStorage', 'SwaggerUIBundle'].map((name) => [name, 'readonly']))
    }
  },
  { files: ['src/**'], rules: { 'no-console': 'error', 'max-depth': ['error', 3] } }
]
