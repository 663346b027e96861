import { writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { PermanentError, WorkError } from '../../../core/errors.ts'
import { createFrameReader, encodeHeader, type FrameHeader } from './frames.ts'
import { prepareLibvips } from './libvips.ts'
import type { Answer, RenderRequest } from './messages.ts'
import { renderThumbnail } from './thumbnail.ts'

// The rendering process: reads requests from file descriptor 3, answers there, and ends when the pipe does.

// A terminal's Ctrl-C reaches the whole process group; the worker has still to drain, and ends this process itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const pipe = new Socket({ fd: 3 })
// Not process.exit(), which would wait for the thread that decodes.
const die = () => process.kill(process.pid, 'SIGKILL')
pipe.on('error', die).on('end', die).on('close', die)

becomeFirstVictim()
const engine = await prepareLibvips()
pipe.on(
  'data',
  createFrameReader({ headerBytes: 64 * 1024, bodyBytes: Number.MAX_SAFE_INTEGER }, async (header, body) => {
    const { answer, bodies } = await work(header as RenderRequest, body)
    send(answer, bodies)
  }),
)
send({ kind: 'hello', bytes: 0, engine }, [])

async function work(
  { limits }: RenderRequest,
  original: Buffer,
): Promise<{ answer: Answer; bodies: Uint8Array[] }> {
  try {
    const { outputs, warnings } = await renderThumbnail(original, limits)
    const bodies = outputs.map(({ body }) => body)
    const answer: Answer = {
      kind: 'rendered',
      bytes: bodies.reduce((sum, { byteLength }) => sum + byteLength, 0),
      rssBytes: process.memoryUsage.rss(),
      outputs: outputs.map(({ body, ...output }) => ({ ...output, bytes: body.byteLength })),
      warnings,
    }
    return { answer, bodies }
  } catch (error) {
    return {
      answer: { kind: 'failed', bytes: 0, rssBytes: process.memoryUsage.rss(), error: asData(error) },
      bodies: [],
    }
  }
}

function asData(error: unknown): Extract<Answer, { kind: 'failed' }>['error'] {
  const message = error instanceof Error ? error.message.slice(0, 1_000) : String(error)
  if (error instanceof PermanentError && error.code !== 'original_missing') {
    return { class: 'permanent', code: error.code, message }
  }
  if (error instanceof WorkError && error.code === 'renderer_killed')
    return { class: 'work', code: error.code, message }
  return { class: 'work', code: 'internal', message }
}

function send(header: Answer & FrameHeader, bodies: readonly Uint8Array[]): void {
  pipe.write(encodeHeader(header))
  for (const body of bodies) pipe.write(body)
}

/** When the machine runs out of memory, the kernel kills this process rather than the worker. Linux only. */
function becomeFirstVictim(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {}
}
