// Finds promises that nobody awaits and whose errors nobody catches. Apart from `npm run lint`, because it needs types
// and takes longer. Errors of the portal's page end no process.
import { plugins } from 'neostandard'

const { parser, plugin } = plugins['typescript-eslint']

export default [
  { ignores: ['src/around/portal/page/**'] },
  {
    files: ['src/**/*.ts'],
    languageOptions: { parser, parserOptions: { projectService: true } },
    plugins: { '@typescript-eslint': plugin },
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    rules: {
      '@typescript-eslint/no-floating-promises': ['error', {
        ignoreVoid: false,
        // Returns a promise only for an asynchronous schema.
        allowForKnownSafeCalls: [{ from: 'package', package: 'ajv', name: 'validateSchema' }]
      }],
      // Fastify awaits the functions in its options.
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { properties: false } }]
    }
  }
]
