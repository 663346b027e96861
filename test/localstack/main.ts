// `npm run test:localstack`: installs LocalStack once, starts it on loopback, and runs against it what depends on SQS and
// S3: both conformance suites, the adapters' own tests, the contract and the end-to-end tests. Where Python 3.13 or PyPI
// cannot be had it says so and ends with 0; whatever fails beyond that ends it with 1.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { installLocalStack, LOCALSTACK_VERSION } from '../../infra/localstack/install.ts'
import { NotToBeHad } from '../../infra/localstack/python.ts'
import { startLocalStack } from '../../infra/localstack/start.ts'

const root = path.resolve(import.meta.dirname, '../..')
const say = (line: string) => console.log(`test:localstack: ${line}`)

try {
  process.exitCode = await testOn(await startLocalStack(installLocalStack(say)))
} catch (error) {
  if (!(error instanceof NotToBeHad)) throw error
  say(`LEFT OUT – ${error.message}. Nothing was tested against LocalStack.`)
}

async function testOn({ endpointUrl, stop }: Awaited<ReturnType<typeof startLocalStack>>): Promise<number> {
  say(`LocalStack ${LOCALSTACK_VERSION} answers on ${endpointUrl}`)
  try {
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.localstack.config.ts']
    const child = spawn(process.execPath, [...vitest, ...process.argv.slice(2)], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, AWS_ENDPOINT_URL: endpointUrl },
    })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => child.kill(signal))
    const [code] = (await once(child, 'exit')) as [number | null]
    return code ?? 1
  } finally {
    await stop()
  }
}
