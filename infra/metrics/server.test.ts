import { Registry } from 'prom-client'
import { afterEach, expect, test } from 'vitest'
import { DEFAULT_TIMING } from '../../core/timing.ts'
import { createRegistry } from './registry.ts'
import { serveMetrics } from './server.ts'

let close = () => {}
afterEach(() => close())

async function serve(registry: Registry): Promise<number> {
  const server = await serveMetrics('127.0.0.1', 0, registry)
  close = server.close
  return server.port
}

test('/metrics is Prometheus text, with the app and its configured durations', async () => {
  const port = await serve(createRegistry('worker', DEFAULT_TIMING))
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const text = await response.text()
  expect(text).toMatch(/^img42_build_info\{app="worker",version="\d+\.\d+\.\d+"\} 1$/m)
  expect(text).toContain('img42_timing_seconds{name="visibility"} 30\n')
  expect(text).toContain('img42_timing_seconds{name="republish_age"} 300\n')
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
})

test('nothing else is there, and nothing can be sent', async () => {
  const url = `http://127.0.0.1:${await serve(new Registry())}`
  expect((await fetch(`${url}/`)).status).toBe(404)
  expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
})

test('a port that is taken is said in one sentence, which names the variable', async () => {
  const port = await serve(new Registry())
  await expect(serveMetrics('127.0.0.1', port, new Registry())).rejects.toThrow(
    `port ${port} of 127.0.0.1 is taken: set METRICS_PORT to another`,
  )
})
