import type { Request } from 'express'
import type { CallbackAllow } from '../../core/callback-address.ts'
import { checkCallbackUrl } from '../../core/callback-url.ts'
import { DEFAULT_OPTIONS } from '../../core/job.ts'
import type { Presets } from '../../core/preset-file.ts'
import type { Timing } from '../../core/timing.ts'
import type { UploadOptions } from './fingerprint.ts'
import { ProblemError } from './problem.ts'
import { readQuery } from './read-query.ts'
import { postImage } from './schemas/image-operations.ts'
import type { ProblemCode } from './schemas/problem-codes.ts'

export interface OptionParts {
  presets: Presets
  timing: Timing
  callbackAllow: CallbackAllow
}

/**
 * The options of an upload, from its query.
 *
 * @throws {ProblemError} 422 naming what is unknown or outside of its limits, and what there is
 */
export function readUploadOptions(request: Pick<Request, 'url'>, parts: OptionParts): UploadOptions {
  const { preset = DEFAULT_OPTIONS.preset, strict, expires_in, callback_url } = readQuery(postImage, request)
  const { presets, timing, callbackAllow } = parts
  const plan = presets.get(preset)
  if (!plan) {
    const names = [...presets.keys()].join(', ')
    throw refused('unknown_preset', `there is no preset ${JSON.stringify(preset)}; there are ${names}`)
  }
  const options: UploadOptions = { preset, plan, strict: strict === 'true' }
  if (expires_in !== undefined) {
    const most = Math.floor(timing.deadlineMs / 1_000)
    if (expires_in > most) {
      const detail = `expires_in: ${expires_in} is more than ${most} seconds, for which a job may wait here`
      throw refused('invalid_parameter', `the query is wrong: ${detail}`)
    }
    options.expires_in = expires_in
  }
  if (callback_url !== undefined) {
    const checked = checkCallbackUrl(callback_url, callbackAllow)
    if (!checked.ok) throw refused('callback_url_refused', `the callback_url ${checked.message}`)
    options.callback_url = checked.url
  }
  return options
}

function refused(code: ProblemCode, detail: string): ProblemError {
  return new ProblemError({ status: 422, code, detail })
}
