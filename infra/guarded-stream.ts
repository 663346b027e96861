import { PassThrough, type Readable } from 'node:stream'

/**
 * The stream as it is, with its errors translated. Whoever destroys the outer stream destroys `source` at once, with
 * the connection or the file that it holds open.
 */
export function guardedStream(source: Readable, translate: (error: unknown) => unknown): Readable {
  const guarded = new PassThrough()
  source.once('error', (error) => guarded.destroy(translate(error) as Error))
  guarded.once('close', () => source.destroy())
  return source.pipe(guarded)
}
