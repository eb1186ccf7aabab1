import { execFile } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { parse } from 'yaml'

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

t.test('the bill of materials has every package that hosts install, in the version of the lock file, and none of development', async (t) => {
  const { stdout } = await promisify(execFile)(fileURLToPath(new URL('.ci/make-sbom', root)))
  const { metadata, components } = JSON.parse(stdout) as { metadata: { component: { name: string } }, components: Array<{ name: string, version: string }> }
  const { packages } = JSON.parse(await readFile(new URL('package-lock.json', root), 'utf8')) as { packages: Record<string, { version: string, dev?: true, devOptional?: true }> }
  const installed = Object.entries(packages).filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
  t.equal(metadata.component.name, 'fastify-recruiting-api')
  t.ok(installed.length > 10)
  t.strictSame(components.map(({ name, version }) => `${name}@${version}`).sort(), installed.map(([path, { version }]) => `${path.replace(/.*node_modules\//, '')}@${version}`).sort())
})

interface Job { permissions?: Record<string, string>, steps: Array<{ run?: string }> }

t.test('the job that npm trusts runs after the checks, and runs none of them', async (t) => {
  const { jobs } = parse(await readFile(new URL('.github/workflows/publish.yml', root), 'utf8')) as { jobs: Record<string, Job & { needs?: string }> }
  const trusted = Object.entries(jobs).filter(([, { permissions }]) => permissions?.['id-token'] === 'write')
  t.match(trusted, [['npm', { needs: 'check' }]])
  t.equal(trusted.length, 1)
  t.match(jobs['check']?.steps.at(-1), { run: 'npm run prepublishOnly' })
  t.strictSame(jobs['npm']?.steps.flatMap(({ run }) => run?.startsWith('npm') ? [run] : []), [
    'npm ci --ignore-scripts', 'npm run build', 'npm publish --ignore-scripts --provenance --access public'
  ])
})
