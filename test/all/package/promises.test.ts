import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const root = fileURLToPath(new URL('../../../', import.meta.url))

t.test('every promise is awaited, or its errors are caught', async (t) => {
  const run = promisify(execFile)('.ci/node_modules/.bin/eslint', ['--config', '.ci/promises.config.js', 'src'], { cwd: root })
  const failure = (error: { code: unknown, stdout: string, stderr: string }) => error
  const { code, stdout, stderr } = await run.then((output) => ({ code: 0, ...output }), failure)
  t.strictSame({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '' })
})
