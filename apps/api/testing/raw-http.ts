import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection that is written to by hand, for what no HTTP client would send. */
export interface RawConnection {
  socket: Socket
  write(text: string | Buffer): void
  /** Resolves with all that was received once it contains `text`, or once the connection ends. */
  until(text: string): Promise<string>
  /** Resolves with all that was received when the server has closed, and whether that was a reset. */
  closed(): Promise<{ received: string; reset: boolean }>
}

export async function openRaw(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let received = ''
  let ended = false
  let reset = false
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) listener()
  }
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    changed()
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    reset = error.code === 'ECONNRESET' || error.code === 'EPIPE'
  })
  socket.on('close', () => {
    ended = true
    changed()
  })
  const when = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!condition()) return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      look()
    })
  return {
    socket,
    write: (text) => void socket.write(text),
    async until(text) {
      await when(() => ended || received.includes(text))
      return received
    },
    async closed() {
      await when(() => ended)
      return { received, reset }
    },
  }
}
