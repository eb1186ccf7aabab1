import neostandard, { plugins, resolveIgnoresFromGitignore } from 'neostandard'
import { folders } from './folders.js'

/** Rejects other imports in the files of a folder and its subfolders, four levels deep. */
const directions = Object.entries(folders).flatMap(([folder, allowed]) => [0, 1, 2, 3].map((depth) => {
  const group = folder.replace(/[^/]+$/, '')
  const paths = allowed.map((path) => {
    if (path === '*') return '\\.\\./[\\w-]+\\.js$'
    return path.startsWith(group) ? `${path.slice(group.length)}/` : `\\.\\./${path}/`
  })
  const regex = `^${'\\.\\./'.repeat(depth + 1)}(?!${paths.join('|') || '$'})`
  const message = `src/${folder} may import only from ${allowed.join(', ') || 'itself'}.`
  return {
    files: [`src/${folder}/${'*/'.repeat(depth)}*.{ts,tsx}`],
    rules: { 'no-restricted-imports': ['error', { patterns: [{ regex, message }] }] }
  }
}))

export default [
  ...neostandard({ ts: true, ignores: resolveIgnoresFromGitignore() }),
  {
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'URL',
          property: 'canParse',
          message: 'On Node 20 and 22 it rejects é and ß after a few thousand calls: use new URL(text).'
        }
      ]
    }
  },
  {
    files: ['src/**', 'examples/**', 'bench/**', 'scripts/**', '.ci/**', 'test/**'],
    rules: {
      // Texts stay on one line, so that a search finds them.
      '@stylistic/max-len': ['error', {
        code: 120, ignoreUrls: true, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true
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
      // A schema and its type share a name; the compiler rejects accidental duplicates.
      '@typescript-eslint/no-redeclare': 'off',
      // This rule misses changes by other functions.
      'no-unmodified-loop-condition': 'off'
    }
  },
  {
    files: ['examples/demo/page/**'],
    languageOptions: {
      globals: Object.fromEntries(
        ['addEventListener', 'document', 'location', 'navigator', 'fetch', 'EventSource', 'performance'].map((name) => [
          name,
          'readonly'
        ])
      )
    }
  },
  // Contains Go code.
  { files: ['src/around/portal/page/verify-code.ts'], rules: { '@stylistic/no-tabs': 'off' } },
  // Handlers are named after their effect.
  { files: ['src/around/portal/page/**'], rules: { 'react/jsx-handler-names': 'off' } },
  {
    files: ['examples/reference/**'],
    languageOptions: {
      globals: Object.fromEntries(
        ['document', 'matchMedia', 'sessionStorage', 'SwaggerUIBundle'].map((name) => [name, 'readonly'])
      )
    }
  },
  { files: ['src/**'], rules: { 'no-console': 'error', 'max-depth': ['error', 3] } },
  {
    files: ['src/**'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@sinclair/typebox',
              allowTypeImports: true,
              message: 'It takes long to load: build schemas with shared/typebox.js.'
            }
          ]
        }
      ]
    }
  },
  ...directions,
  // It contains nothing but itself, so that it stays small in browsers.
  {
    files: ['src/around/client/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^(?!\\./)', allowTypeImports: true, message: 'The client may import only types.' }] }
      ]
    }
  },
  // The page runs in a browser.
  {
    files: ['src/around/portal/page/*.{ts,tsx}'],
    rules: {
      'no-restricted-imports': 'off',
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^\\.\\./(?!theme\\.js|\\.\\./client/)',
              allowTypeImports: true,
              message: 'The page may import only the client and types from the rest of src/.'
            }
          ]
        }
      ]
    }
  },
  {
    files: ['src/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^\\./(storages|tools)/',
              message: 'Hosts import the adapters and the kit directly.'
            }
          ]
        }
      ]
    }
  }
]
