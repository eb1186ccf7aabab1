import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

const root = new URL('../../', import.meta.url)

/** Runs the check of a release over files of a checkout, and returns what it says. */
async function check (t: Test, files: Record<string, string>, env: Record<string, string> = {}): Promise<string> {
  const folder = t.testdir({ '.ci': {}, 'package.json': '{ "version": "1.2.3" }', 'SECURITY.md': '', 'CHANGELOG.md': '## 1.2.3, 2027-01-31\n', ...files })
  await cp(new URL('.ci/check-publish', root), `${folder}/.ci/check-publish`)
  const settings = { env: { ...process.env, GITHUB_REF_TYPE: '', ...env } }
  return promisify(execFile)(`${folder}/.ci/check-publish`, settings).then(() => '', ({ stderr }) => stderr)
}

t.test('a version is published only with its own heading in the changelog, its own tag and no placeholder', async (t) => {
  t.equal(await check(t, {}), '')
  t.equal(await check(t, {}, { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v1.2.3' }), '')
  t.equal(await check(t, {}, { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v1.2.4' }), 'the tag is v1.2.4, expected v1.2.3\n')
  for (const text of ['## Unreleased: 1.2.3\n', '## 1.2.4, 2027-01-31\n', '## 1x2.3, 2027-01-31\n']) {
    t.equal(await check(t, { 'CHANGELOG.md': text }), 'CHANGELOG.md has no heading: ## 1.2.3, YYYY-MM-DD\n')
  }
  t.equal(await check(t, { 'SECURITY.md': 'https://github.com/OWNER/pets' }), 'SECURITY.md:1:https://github.com/OWNER/pets\nreplace OWNER with the owner of the repository\n')
  t.match(await check(t, { 'package.json': '{ "version": "1.2.3", "homepage": "https://github.com/OWNER/pets" }' }), 'replace OWNER')
})
