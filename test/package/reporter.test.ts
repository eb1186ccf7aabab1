import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'

const { default: Reporter } = await import(new URL('../fixtures/runner/reporter.js', import.meta.url).href)

const output = `TAP version 14
# Subtest: test/rooms/http.ts
    # Subtest: test/http/a.test.ts
        ok 1 - answers
        not ok 2 - has the header
          ---
          diff: |
            -200
            +404
          at:
            fileName: test/http/a.test.ts
          ...
        ok 3 - in a browser # SKIP no Chromium
        1..3
    not ok 1 - test/http/a.test.ts # time=7ms
    1..1
not ok 1 - test/rooms/http.ts # time=1500ms
# Subtest: test/rooms/sync.ts
    ok 1 - works
    1..1
not ok 2 - test/rooms/sync.ts # time=20ms
  ---
  signal: SIGKILL
  ...
1..2
# time=1600ms
`

t.test('a test run ends with the names of the tests that failed, after their details', async (t) => {
  t.equal(await text(Readable.from([output.slice(0, 99), output.slice(99)]).pipe(new Reporter())), `FAILED test/rooms/http.ts (1.5 s)
FAILED test/rooms/sync.ts (0.0 s)
skipped: test/rooms/http.ts > test/http/a.test.ts > in a browser: no Chromium

--- test/rooms/http.ts > test/http/a.test.ts > has the header
diff: |
  -200
  +404

--- test/rooms/sync.ts
signal: SIGKILL

FAILED test/rooms/http.ts > test/http/a.test.ts > has the header
FAILED test/rooms/sync.ts
2 passed, 2 failed, 1 skipped (1.6 s)
`)
})
