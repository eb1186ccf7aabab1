import { postDemo } from './api.js'
import { copy } from './copy.js'
import { find, h } from './dom.js'

/** Shows the address of a tenant's MCP server and an agent's session. */
export function createAgents ({ hasAgents }) {
  const transcript = find('#transcript')
  let slug

  find('#agents').hidden = !hasAgents
  find('#copy-mcp').addEventListener('click', ({ target }) => copy(target, find('#mcp-address').textContent))
  find('#agent').addEventListener('click', async () => {
    const tenant = slug
    const { transcript: exchanges } = await postDemo('agent/session', { tenant })
    // The page may have switched to another customer.
    if (slug !== tenant) return
    transcript.replaceChildren(
      ...exchanges.map(({ sent, received }) => h('li', {}, h('code', {}, sent), h('pre', { tabindex: '0' }, received)))
    )
  })

  return {
    open (nextSlug) {
      slug = nextSlug
      find('#mcp-address').textContent = `${location.origin}/api/v1/public/${slug}/mcp`
      transcript.replaceChildren()
    }
  }
}
