import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { serveQuestions } from '../harness/helper.js'

let arrived: () => void = () => {}

serveQuestions({
  /** Opens an endpoint that responds, and one that accepts connections and never does. */
  async open () {
    const alive = createServer((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(204).end()
        arrived()
      })
    })
    const dead = createTcpServer((socket) => { socket.on('error', () => {}).resume() })
    const [alivePort, deadPort] = await Promise.all([alive, dead].map((server) => new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    })))
    return { alive: alivePort, dead: deadPort }
  },
  /** Resolves when the next request arrives. */
  arrival: () => new Promise<void>((resolve) => { arrived = resolve })
})
