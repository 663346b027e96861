import type { ImageWarning } from '../image/warnings.ts'

/**
 * Makes the outputs of one image. It reads the source once, holds no network connection, and may be killed at any
 * moment: by `signal`, by its memory limit, or by the image itself.
 *
 * Rejects with a {@link PermanentError} when the image is at fault, a {@link WorkError} when the rendering process
 * crashed or was killed, and with the signal's reason when `signal` aborted.
 */
export interface Renderer {
  /** What decides an output's bytes besides its input and its preset, such as `sharp-0.35.5_vips-8.18.7`. */
  readonly engine: string
  render(source: RenderSource, signal: AbortSignal): Promise<Rendering>
}

export interface RenderSource {
  /** The original's bytes, streamed. An error that it throws is passed on unchanged. */
  body: AsyncIterable<Uint8Array>
  /** How many there are. */
  bytes: number
}

export interface Rendering {
  outputs: RenderedOutput[]
  warnings: ImageWarning[]
}

export interface RenderedOutput {
  /** Unique within the rendering; becomes part of the output's key and URL. */
  name: string
  contentType: string
  width: number
  height: number
  body: Uint8Array
}
