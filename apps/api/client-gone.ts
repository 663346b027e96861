import type { ServerResponse } from 'node:http'

/** Aborts when the connection is lost before the answer was all sent. */
export function clientGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  const close = () => {
    if (!response.writableFinished) gone.abort(new Error('the client is gone'))
  }
  if (response.closed) close()
  else response.once('close', close)
  return gone.signal
}
