import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import type { Python } from './python.ts'

const STARTS_WITHIN_MS = 120_000

/**
 * Starts LocalStack with S3 and SQS, empty, on a free port of 127.0.0.1, and resolves once it is ready. It keeps
 * everything in a folder that goes with it.
 *
 * @throws {Error} with the end of its log, when it ends or is not ready within two minutes
 */
export async function startLocalStack(
  python: Python,
): Promise<{ endpointUrl: string; stop(): Promise<void> }> {
  const port = await freePort()
  const folder = mkdtempSync(path.join(python.root, '/tmp/img42-localstack-'))
  const inside = folder.slice(python.root.length)
  const logFile = path.join(folder, 'log')
  const output = openSync(logFile, 'w')
  const script = readFileSync(path.join(import.meta.dirname, 'loopback.py'), 'utf8')
  const [command = '', ...args] = [...python.into, python.interpreter, '-c', script]
  const child = spawn(command, args, {
    stdio: ['ignore', output, output],
    env: {
      PATH: process.env.PATH,
      HOME: inside,
      // All that it writes, wherever it believes to run.
      ...{ OVERRIDE_IN_DOCKER: '0', FILESYSTEM_ROOT: inside, TMPDIR: inside },
      ...{ GATEWAY_LISTEN: `127.0.0.1:${port}`, SERVICES: 's3,sqs', AWS_REGION: 'us-east-1' },
      // Neither usage reports, nor a certificate from the network, nor a name server.
      ...{ DISABLE_EVENTS: '1', SKIP_SSL_CERT_DOWNLOAD: '1', DNS_ADDRESS: '0' },
    },
  })
  closeSync(output)
  const gone = once(child, 'exit')
  // A program that cannot be started has no exit.
  gone.catch(() => {})
  // Whoever forgets to stop it, or is ended first, leaves nothing behind.
  const leaveNothing = () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', leaveNothing)

  const stop = async (): Promise<void> => {
    process.off('exit', leaveNothing)
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), 15_000)
      await gone
      clearTimeout(late)
    }
    rmSync(folder, { recursive: true, force: true })
  }

  const endpointUrl = `http://127.0.0.1:${port}`
  const until = Date.now() + STARTS_WITHIN_MS
  const ended = gone.then(
    () => true,
    () => true,
  )
  while (!(await isReady(endpointUrl))) {
    const over = await Promise.race([ended, delay(200).then(() => Date.now() > until)])
    if (!over) continue
    const log = readFileSync(logFile, 'utf8').slice(-4_000)
    await stop()
    throw new Error(`LocalStack did not start:\n${log}`)
  }
  return { endpointUrl, stop }
}

/** Whether both services answer, and that it is LocalStack that does. */
async function isReady(endpointUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${endpointUrl}/_localstack/health`, { signal: AbortSignal.timeout(5_000) })
    const { services } = (await response.json()) as { services: Record<string, string> }
    return ['s3', 'sqs'].every((name) => /^(available|running)$/.test(services[name] ?? ''))
  } catch {
    return false
  }
}
