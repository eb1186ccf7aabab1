import { testMistakes } from '../../fixtures/delivery/broken-storage.js'

testMistakes([
  {
    storage: 'lets each environment claim',
    caughtBy: 'only workers of the first environment, and those without one, claim',
    breaks: ({ deliveries }) => ({ deliveries: { claimDue: (options) => deliveries.claimDue({ ...options, environment: null }) } })
  },
  {
    storage: 'holds workers without an environment',
    caughtBy: 'only workers of the first environment, and those without one, claim',
    breaks: ({ deliveries }) => ({ deliveries: { claimDue: (options) => deliveries.claimDue({ ...options, environment: options.environment ?? 'none' }) } })
  },
  {
    storage: 'gives notices to each environment',
    caughtBy: 'notices are not given to another environment',
    breaks: ({ deliveries }) => ({ deliveries: { claimNotices: (options) => deliveries.claimNotices({ ...options, environment: null }) } })
  },
  {
    storage: 'forgets when a hold was noticed',
    caughtBy: 'another environment is held, from the time when it is first noticed',
    breaks: ({ holds, clock }) => ({
      holds: {
        async find (environment) {
          const hold = await holds.find(environment)
          return hold && { ...hold, since: new Date(clock.now()).toISOString() }
        }
      }
    })
  },
  {
    storage: 'adopts for nobody',
    caughtBy: 'an adopted storage belongs to the other environment',
    breaks: ({ holds, data }) => ({
      holds: {
        async adopt (options) {
          const adoption = await holds.adopt(options)
          if (adoption !== null) data.home.move(null)
          return adoption
        }
      }
    })
  },
  {
    storage: 'keeps what an adoption discards',
    caughtBy: 'an adoption that discards skips all that is pending',
    breaks: ({ holds }) => ({ holds: { adopt: (options) => holds.adopt({ ...options, pending: 'deliver' }) } })
  },
  {
    storage: 'adopts what it does not hold',
    caughtBy: 'an adoption changes nothing if nothing is held',
    breaks: ({ holds, data }) => ({
      holds: {
        async adopt (options) {
          const adoption = await holds.adopt(options)
          data.home.move(options.environment)
          return adoption
        }
      }
    })
  }
])
