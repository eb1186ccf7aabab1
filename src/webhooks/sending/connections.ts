import type { Socket } from 'node:net'
import { Client } from 'undici'
import { type Connect, PendingConnection } from '../ssrf/connector.js'

/** A connection to a receiver. It carries one request at a time. */
export interface Connection {
  readonly client: Client
  /** How often something was read from its socket. */
  reads: number
  /** Whether the proxy has not opened the tunnel yet. */
  readonly isAtProxy: boolean
  /** Keeps it for the next request to the same origin. */
  release (): void
  close (): Promise<void>
}

/** Connections to receivers, kept open between requests. */
export interface Connections {
  /** An idle connection to the origin, or a new one. */
  acquire (origin: string): Connection
  open (origin: string): Connection
  close (): Promise<void>
}

export function createConnections (connect: Connect, options: Client.Options): Connections {
  const idle = new Map<string, Connection[]>()
  const connections = new Set<Connection>()
  let isClosed = false

  function open (origin: string): Connection {
    let socket: Socket | null = null
    const pending = new PendingConnection()
    const client = new Client(origin, {
      ...options,
      connect: (target, callback) => connect(target, (...result) => {
        socket = result[1]
        connection.reads = 0
        socket?.on('readable', countRead)
        callback(...result)
      }, pending)
    })
    const connection = {
      client,
      reads: 0,
      get isAtProxy () { return pending.isAtProxy },
      release () {
        if (socket === null || socket.destroyed) connection.close()
        else idle.set(origin, [...idle.get(origin) ?? [], connection])
      },
      close () {
        connections.delete(connection)
        const closed = client.destroy()
        pending.close()
        return closed
      }
    }
    // Not `bytesRead`: over TLS it includes the alert that closes the connection.
    function countRead (this: Socket): void {
      if (this.readableLength > 0) connection.reads++
    }
    client.on('disconnect', () => {
      if (forget(origin, connection)) connection.close()
    })
    if (isClosed) connection.close()
    else connections.add(connection)
    return connection
  }

  /** Returns whether the connection was idle. */
  function forget (origin: string, connection: Connection): boolean {
    const kept = idle.get(origin) ?? []
    const others = kept.filter((other) => other !== connection)
    if (others.length === 0) idle.delete(origin)
    else idle.set(origin, others)
    return others.length < kept.length
  }

  return {
    open,
    acquire (origin) {
      const connection = idle.get(origin)?.at(-1)
      if (connection === undefined) return open(origin)
      forget(origin, connection)
      return connection
    },
    async close () {
      isClosed = true
      await Promise.all([...connections].map((connection) => connection.close()))
    }
  }
}
