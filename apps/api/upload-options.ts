import { DEFAULT_OPTIONS, type JobOptions } from '../../core/job.ts'
import type { Presets } from '../../core/preset-file.ts'
import { ProblemError } from './problem.ts'

/** What `POST /v1/images` can be told in its query. */
const OPTIONS = ['preset', 'strict']

/**
 * The options of an upload: `preset` names what is made of the image, `strict=true` refuses an image that can only be
 * decoded leniently.
 *
 * @param url of the request; its query is read
 * @throws {ProblemError} 422 naming the option or value that is not known, and those that are
 */
export function readUploadOptions(url: string, presets: Presets): JobOptions {
  const at = url.indexOf('?')
  const query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
  for (const name of new Set(query.keys())) {
    if (!OPTIONS.includes(name)) {
      throw unknown('unknown_option', `there is no option ${quoted(name)}; there are ${OPTIONS.join(', ')}`)
    }
    if (query.getAll(name).length > 1) {
      throw unknown('invalid_option', `the option ${name} is there more than once`)
    }
  }
  const preset = query.get('preset') ?? DEFAULT_OPTIONS.preset
  const plan = presets.get(preset)
  if (!plan) {
    const names = [...presets.keys()].join(', ')
    throw unknown('unknown_preset', `there is no preset ${quoted(preset)}; there are ${names}`)
  }
  const strict = query.get('strict') ?? 'false'
  if (strict !== 'true' && strict !== 'false') {
    throw unknown('invalid_option', `the option strict has to be true or false, not ${quoted(strict)}`)
  }
  return { preset, plan, strict: strict === 'true' }
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}

function unknown(code: string, detail: string): ProblemError {
  return new ProblemError({ status: 422, code, detail })
}
