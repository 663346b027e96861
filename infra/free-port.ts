import { createServer } from 'node:net'

/** A port of 127.0.0.1 that nobody has, for a program that takes no 0: another may take it before that does. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
