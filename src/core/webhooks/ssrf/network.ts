import { createSocket } from 'node:dgram'

/** Codes of the system without a descriptor for another socket. */
export const noDescriptor = new Set(['EMFILE', 'ENFILE'])

/** This process cannot connect to any address: its network is down, or its `localAddress` does not exist. */
export class NetworkError extends Error {}

/** Codes for addresses without a route. */
const noRoute = new Set(['ENETUNREACH', 'ENETDOWN', 'EHOSTUNREACH', 'EHOSTDOWN', 'EADDRNOTAVAIL'])

/** Addresses for documentation, which only a default route reaches. */
const farAddresses = [['udp4', '192.0.2.1'], ['udp6', '2001:db8::1']] as const

/**
 * Returns the error of a connection, or a `NetworkError` if no other connection could succeed. One unreachable
 * receiver, or one without an address of a family that this machine has, is no such error.
 */
export async function judgeConnectError (error: NodeJS.ErrnoException): Promise<Error> {
  if (error.syscall === 'bind' && error.code === 'EADDRNOTAVAIL') return new NetworkError(`localAddress: ${error.code}`)
  if (!noRoute.has(String(error.code))) return error
  return await findLocalFault() ?? error
}

/**
 * Returns why no connection can be opened: an error with the code of missing descriptors, or a `NetworkError` without a
 * default route; `null` otherwise. Sends nothing: connecting a datagram socket only looks up the route.
 */
export async function findLocalFault (): Promise<Error | null> {
  const faults = await Promise.all(farAddresses.map(([type, address]) => connectDatagrams(type, address)))
  const [first = null] = faults.filter((fault) => noDescriptor.has(String(fault?.code)))
  if (first !== null) return first
  return faults.includes(null) ? null : new NetworkError(String(faults[0]?.code))
}

function connectDatagrams (type: 'udp4' | 'udp6', address: string): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const socket = createSocket(type)
    const end = (error: NodeJS.ErrnoException | null = null): void => {
      // It closes itself after some errors.
      try { socket.close() } catch {}
      resolve(error)
    }
    socket.on('error', end)
    // Any port: nothing is sent.
    socket.connect(9, address, end)
  })
}
