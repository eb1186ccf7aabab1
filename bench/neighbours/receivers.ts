import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Endpoints of webhooks. The path decides how one responds. */
export interface Receivers {
  port: number
  /** Delays of the events that the quick endpoint has received, in milliseconds. */
  delays: number[]
  /** Ends all requests that wait. */
  release (): void
  close (): void
}

const slowMs = 10_000

const endpoints: Record<string, (response: ServerResponse) => void> = {
  quick: (response) => response.writeHead(204).end(),
  other: (response) => response.writeHead(204).end(),
  slow: (response) => { setTimeout(() => response.writeHead(204).end(), slowMs).unref() },
  silent: () => {},
  endless (response) {
    response.writeHead(200)
    const timer = setInterval(() => response.write('more'), 200).unref()
    response.on('close', () => clearInterval(timer))
  }
}

/** Starts the endpoints on all addresses of 127.0.0.0/8. */
export async function startReceivers (): Promise<Receivers> {
  const delays: number[] = []
  const open = new Set<ServerResponse>()
  const server: Server = createServer(async (request, response) => {
    open.add(response)
    response.on('error', () => {})
    response.on('close', () => open.delete(response))
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const [, name = ''] = (request.url ?? '').split('/')
    if (name === 'quick') {
      const { data } = JSON.parse(Buffer.concat(chunks).toString())
      if (typeof data?.sentAt === 'number') delays.push(Date.now() - data.sentAt)
    }
    endpoints[name]?.(response)
  })
  await new Promise<void>((resolve) => { server.listen(0, '0.0.0.0', 4096, resolve) })
  return {
    port: (server.address() as AddressInfo).port,
    delays,
    release: () => open.forEach((response) => response.destroy()),
    close () {
      server.close()
      server.closeAllConnections()
    }
  }
}
