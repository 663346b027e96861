import { Socket } from 'node:net'
import { PermanentError, WorkError } from '../../../core/errors.ts'
import { createFrameReader, encodeHeader, type FrameHeader } from './frames.ts'
import { prepareLibvips } from './libvips.ts'
import type { Answer, RenderRequest } from './messages.ts'
import { saysOutOfMemory, watchStrain } from './out-of-memory.ts'
import { render } from './render.ts'
import { confinementOf, dropRoot } from './sandbox/confinement.ts'

// The rendering process: reads requests from file descriptor 3, answers there, and ends when the pipe does.

// A terminal's Ctrl-C reaches the whole process group; the worker has still to drain, and ends this process itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const pipe = new Socket({ fd: 3 })
// Not process.exit(), which would wait for the thread that decodes.
const die = () => process.kill(process.pid, 'SIGKILL')
pipe.on('error', die).on('end', die).on('close', die)

const engine = await prepareLibvips().catch((error: Error) => {
  // For the worker's log: the sentence, without the stack.
  process.stderr.write(error.message, () => process.exit(1))
  return new Promise<never>(() => {})
})
dropRoot()
const confinement = await confinementOf()
const strained = watchStrain(confinement.dataLimitBytes)
pipe.on(
  'data',
  createFrameReader({ headerBytes: 64 * 1024, bodyBytes: Number.MAX_SAFE_INTEGER }, async (header, body) => {
    const { answer, bodies } = await work(header as RenderRequest, body)
    send(answer, bodies)
  }),
)
send({ kind: 'hello', bytes: 0, engine, confinement }, [])

async function work(
  { limits, plan }: RenderRequest,
  original: Buffer,
): Promise<{ answer: Answer; bodies: Uint8Array[] }> {
  try {
    const { outputs, warnings, facts, cost } = await render(original, limits, plan)
    const bodies = outputs.map(({ body }) => body)
    const answer: Answer = {
      kind: 'rendered',
      bytes: bodies.reduce((sum, { byteLength }) => sum + byteLength, 0),
      ...memory(),
      outputs: outputs.map(({ body, ...output }) => ({ ...output, bytes: body.byteLength })),
      warnings,
      facts,
      cost,
    }
    return { answer, bodies }
  } catch (error) {
    return {
      answer: { kind: 'failed', bytes: 0, ...memory(), error: asData(error) },
      bodies: [],
    }
  }
}

function memory(): Pick<Exclude<Answer, { kind: 'hello' }>, 'rssBytes' | 'strained'> {
  return { rssBytes: process.memoryUsage.rss(), strained: strained() }
}

function asData(error: unknown): Extract<Answer, { kind: 'failed' }>['error'] {
  const message = error instanceof Error ? error.message.slice(0, 1_000) : String(error)
  const outOfMemory = { class: 'work', code: 'renderer_out_of_memory', message } as const
  if (error instanceof PermanentError && error.code !== 'original_missing') {
    const sure = error.code !== 'corrupt' && error.code !== 'truncated'
    return sure || !strained() ? { class: 'permanent', code: error.code, message } : outOfMemory
  }
  const known = error instanceof WorkError && error.code === 'renderer_out_of_memory'
  return known || saysOutOfMemory(message) ? outOfMemory : { class: 'work', code: 'internal', message }
}

function send(header: Answer & FrameHeader, bodies: readonly Uint8Array[]): void {
  pipe.write(encodeHeader(header))
  for (const body of bodies) pipe.write(body)
}
