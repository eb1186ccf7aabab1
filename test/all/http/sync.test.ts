import { execFile, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { memoryStorage } from '../../../src/storages/memory/index.js'
import { buildApp, keys } from '../../fixtures/api/app.js'

const run = promisify(execFile)
const hasPython = spawnSync('python3', ['--version']).status === 0
const candidate = (id: number, name: string) => ({ id, full_name: name, headline: null, source_id: null })

t.test('the Python loop in the docs keeps an exact copy', { skip: !hasPython && 'no python3' }, async (t) => {
  const [, loop = ''] = /```python\n(def sync.*?)```/s.exec(await readFile(new URL('../../../docs/contract.md', import.meta.url), 'utf8')) ?? []
  const storage = memoryStorage({ tenants: { acme: { candidates: [candidate(1, 'Ada'), candidate(2, 'Grace'), candidate(3, 'Alan')] } } })
  const app = await buildApp(t, { storage })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })

  /** Runs the loop from a token. Returns the saved items and the next token. */
  async function sync (token: string): Promise<{ saved: object, token: string, begun: number }> {
    const program = `
import json, sys
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

${loop}

class Copy:
    token = sys.argv[3]
    begun = 0
    saved = {}
    def begin_again(self):
        self.token = None
        self.begun += 1
    def save(self, page):
        self.saved.update({item["id"]: item["candidate"] for item in page["data"]})
        self.token = page["meta"]["next_token"]

copy = Copy()
sync(sys.argv[1], sys.argv[2], copy, per_page=2)
print(json.dumps({"saved": copy.saved, "token": copy.token, "begun": copy.begun}))`
    const { stdout } = await run('python3', ['-c', program, `${address}/api/v1/public/acme/candidates/sync`, keys.full, token])
    return JSON.parse(stdout)
  }

  const first = await sync('made up')
  t.strictSame([first.saved, first.begun], [{ 1: candidate(1, 'Ada'), 2: candidate(2, 'Grace'), 3: candidate(3, 'Alan') }, 1])
  storage.candidates.remove('acme', 1)
  storage.candidates.save('acme', { id: 3, full_name: 'Alan Turing' })
  const second = await sync(first.token)
  t.strictSame([second.saved, second.begun], [{ 1: null, 3: candidate(3, 'Alan Turing') }, 0])
})
