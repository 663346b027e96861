import { type Agent, request } from 'node:http'
import { checkAnswer } from '../contract/checked-fetch.ts'
import type { FuzzRequest } from './requests.ts'

/** No answer of the service takes this long, but for a wait that was asked for, and an event stream, which is cut. */
const ANSWER_MS = 90_000
const STREAM_MS = 50

/**
 * Sends a request as it is, holds the answer against the document, and gives its status.
 *
 * @throws {ContractBroken} for an answer that is not declared
 */
export async function sendFuzz(
  { url, key, agent }: { url: string; key: string; agent: Agent },
  fuzz: FuzzRequest,
): Promise<number> {
  const query = fuzz.query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
  const target = new URL(url)
  const headers: string[] = ['Host', target.host, 'Authorization', `Bearer ${key}`]
  for (const [name, value] of fuzz.headers) headers.push(name, shortened(name, value))
  if (fuzz.body?.type) headers.push('Content-Type', fuzz.body.type)
  if (fuzz.body) headers.push('Content-Length', String(fuzz.body.bytes.length))
  const answer = await exchange(
    {
      ...{ agent, host: target.hostname, port: target.port, method: fuzz.method, headers },
      path: `${fuzz.path}${query && `?${query}`}`,
      signal: AbortSignal.timeout(ANSWER_MS),
    },
    fuzz,
  )
  checkAnswer(fuzz.method, fuzz.path, answer)
  return answer.status
}

/** A wait of a minute shows nothing that one of a second does not. */
function shortened(name: string, value: string): string {
  return name === 'Prefer' ? value.replace(/^wait=\d+$/, 'wait=1') : value
}

function exchange(
  options: Parameters<typeof request>[1] & object,
  { body }: FuzzRequest,
): Promise<{ status: number; headers: Headers; body: Buffer | null }> {
  return new Promise((resolve, reject) => {
    const sent = request(options)
    const expects = (options.headers as readonly string[]).some((value) => value === '100-continue')
    sent.on('error', reject)
    sent.on('response', (response) => {
      const headers = new Headers()
      for (let i = 0; i < response.rawHeaders.length; i += 2) {
        headers.append(response.rawHeaders[i]!, response.rawHeaders[i + 1]!)
      }
      const chunks: Buffer[] = []
      const answered = (whole: boolean) =>
        resolve({ status: response.statusCode!, headers, body: whole ? Buffer.concat(chunks) : null })
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => answered(true))
      response.on('error', reject)
      if (headers.get('content-type') === 'text/event-stream') {
        setTimeout(() => {
          answered(false)
          sent.destroy()
        }, STREAM_MS)
      }
    })
    if (!body || body.bytes.length === 0) sent.end()
    else if (!expects) sent.end(body.bytes)
    else {
      // Sent once it is asked for; an answer may come instead.
      sent.on('continue', () => sent.end(body.bytes))
      sent.flushHeaders()
    }
  })
}
