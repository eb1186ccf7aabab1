import { readFile } from 'node:fs/promises'
import t from 'tap'
import { commands } from '../../src/cli/commands.js'
import { parseFlags } from '../../src/cli/flags.js'

const pages = await Promise.all(['README.md', 'docs/operations.md', 'docs/security.md', 'docs/coming-from.md', 'docs/webhooks.md'].map((path) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')))
const text = pages.join('\n')
// What the pages export before.
const variables = { RECRUITING_URL: 'https://ats.example.com/api/v1/public/acme' }

/** The words of a line of a shell, without its comment. */
function split (line: string): string[] {
  return [...line.replace(/ #.*/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? String(bare))
}

t.test('every command line in the pages is right', async (t) => {
  const lines = [...text.matchAll(/^npx fastify-recruiting-api (.+)$/gm), ...text.matchAll(/`npx fastify-recruiting-api ([^`]+)`/g)].map(([, line = '']) => line)
  t.ok(lines.length > 15)
  for (const line of lines) {
    const words = split(line)
    const name = [words.slice(0, 2).join(' '), String(words[0])].find((known) => Object.hasOwn(commands, known))
    const entry = commands[String(name)]
    if (entry === undefined) throw new Error(`there is no command: ${line}`)
    const command = await entry.load()
    t.doesNotThrow(() => parseFlags(words.slice(String(name).split(' ').length), command, variables), line)
  }
})

t.test('docs/operations.md names every command', async (t) => {
  const [, table = ''] = text.split('| command | what it does |\n|---|---|\n')
  const rows = table.split('\n\n', 1).join('').split('\n').map((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
  const named = rows.flatMap(([first = '', ...rest]) => [first, ...rest.map((name) => name.startsWith(first) ? name : `${first.split(' ')[0]} ${name}`)])
  for (const name of Object.keys(commands)) t.ok(named.includes(name), name)
})
