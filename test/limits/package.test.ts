import t from 'tap'
import { createLimits } from '../../src/http/limits/limits.js'
import type { RateLimitSettings } from '../../src/http/settings.js'
import { readRateLimit } from '../../src/options/rate-limit.js'

const settings = readRateLimit({}, 'rateLimit') as RateLimitSettings

t.test('without the package the registration fails, and says which is missing', async (t) => {
  await t.rejects(createLimits(settings, () => Promise.reject(new Error('Cannot find package'))), {
    name: 'RecruitingApiError',
    code: 'invalid_option',
    field: 'rateLimit',
    message: 'rateLimit: expected the package @fastify/rate-limit to be installed, got "Cannot find package"'
  })
  // eslint-disable-next-line prefer-promise-reject-errors
  await t.rejects(createLimits(settings, () => Promise.reject('gone')), { field: 'rateLimit', message: /"gone"/ })
})

t.test('a package that is too old is refused', async (t) => {
  await t.rejects(createLimits(settings, async () => ({ default: async () => {} })), {
    code: 'invalid_option',
    field: 'rateLimit',
    message: 'rateLimit: expected @fastify/rate-limit of version 10.3 or later, got "an older one"'
  })
})
