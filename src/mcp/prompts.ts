import type { GetPromptResult } from '@modelcontextprotocol/server'
import { dataWarning } from './result.js'

/** A prompt as clients list it. */
interface ListedPrompt {
  name: string
  title: string
  description: string
}

/** A prompt of the server. */
interface Question extends ListedPrompt {
  /** The tools it uses. A caller who may not use all of them does not see it. */
  tools: readonly string[]
  days: number
  ask (since: string): string
}

const dayMs = 86_400_000

const questions: readonly Question[] = [
  {
    name: 'failures_this_week',
    title: 'What failed this week, and why?',
    description: 'Finds the notifications that webhooks did not receive in the last seven days, and their causes.',
    tools: ['list_webhooks', 'list_webhook_deliveries', 'get_webhook_delivery', 'get_webhook'],
    days: 7,
    ask: (since) =>
      [
        `Find out which notifications of our webhooks failed since ${since}, and why.`,
        '1. Call list_webhooks, and all its pages.',
        '2. For each webhook, call get_webhook, whose `health` shows failures, and list_webhook_deliveries with the filter status "failed". Leave out deliveries created before that time.',
        '3. For one delivery of each kind of error, call get_webhook_delivery, whose `attempts` show what the endpoint responded.',
        'Report for each webhook how many failed, since when, the causes and what would fix them. Change nothing and replay nothing unless I ask you to.'
      ].join('\n')
  },
  {
    name: 'changes_since_yesterday',
    title: 'What changed since yesterday?',
    description: 'Lists the candidates and jobs that changed in the last 24 hours.',
    tools: ['list_candidates', 'list_jobs'],
    days: 1,
    ask: (since) =>
      [
        `Find out what changed in our recruiting system since ${since}.`,
        `1. Call list_candidates and list_jobs with the filter updated_after "${since}" and sort "-updated_at", and all their pages.`,
        '2. If there is a tool list_events, call it too, page by page, and leave out events before that time.',
        "Report the changes by job, newest first, and name what needs somebody's attention."
      ].join('\n')
  }
]

/** Returns the prompts whose tools the caller may use. */
export function listPrompts (tools: readonly string[]): ListedPrompt[] {
  return findQuestions(tools).map(({ name, title, description }) => ({ name, title, description }))
}

/** Returns a prompt; `null` if the caller does not see it. */
export function findPrompt (name: string, tools: readonly string[], nowMs: number): GetPromptResult | null {
  const question = findQuestions(tools).find((known) => known.name === name)
  if (question === undefined) return null
  const text = `${question.ask(new Date(nowMs - question.days * dayMs).toISOString())}\n${dataWarning}`
  return { messages: [{ role: 'user', content: { type: 'text', text } }] }
}

function findQuestions (tools: readonly string[]): Question[] {
  return questions.filter((question) => question.tools.every((name) => tools.includes(name)))
}
