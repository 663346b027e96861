import type { Writable } from 'node:stream'
import { DependencyError } from '../../../core/errors.ts'
import type { Limits } from '../../../core/limits.ts'
import type { RenderPlan, RenderSource } from '../../../core/ports/renderer.ts'
import { encodeHeader } from './frames.ts'
import type { RenderRequest } from './messages.ts'

/**
 * Sends a request with its original into a rendering process's pipe, a piece at a time: the next one is asked for when
 * the last has left this process.
 *
 * Resolves early, with the source let go, when `over` aborts or the pipe breaks: what that means, its caller knows.
 *
 * @param onBegin called before the first byte is sent, which is when the first piece of the original has come: a store
 *   that is down costs no process
 * @throws what the source throws, unchanged; a {@link DependencyError} when it has other than `source.bytes` bytes
 */
export async function sendOriginal(
  pipe: Writable,
  source: RenderSource,
  limits: Limits,
  plan: RenderPlan,
  over: AbortSignal,
  onBegin: () => void,
): Promise<void> {
  const request: RenderRequest = { bytes: source.bytes, limits, plan }
  let begun = false
  let sent = 0

  for await (const piece of source.body) {
    if (over.aborted) return
    if (!begun && !(await begin())) return
    sent += piece.byteLength
    if (sent > source.bytes) throw otherLength('more')
    if (!(await write(pipe, piece))) return
  }
  if (sent < source.bytes) throw otherLength(`${sent}`)
  if (!begun && !over.aborted) await begin()

  function begin(): Promise<boolean> {
    begun = true
    onBegin()
    return write(pipe, encodeHeader(request))
  }

  function otherLength(found: string): DependencyError {
    return new DependencyError(
      'object_store',
      `the original was to have ${source.bytes} bytes and has ${found}`,
    )
  }
}

/** Whether the bytes went out. */
function write(pipe: Writable, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => pipe.write(bytes, (error) => resolve(!error)))
}
