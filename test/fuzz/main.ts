// `npm run test:fuzz`: 10,000 requests made from openapi.json, valid and nearly valid. Ends with 1 if one of them got a
// 5xx or an answer that the document does not declare. `--requests N`, `--seed N`, `--path P` of a failed run; with
// IMG42_URL and IMG42_KEY against a service that runs already.
import { parseArgs } from 'node:util'
import { startContractStack } from '../contract/stack.ts'
import { startThrowAwayDatabase } from '../throw-away-database.ts'
import { countLines, fuzz } from './fuzz.ts'

for (const end of ['disconnect', 'SIGTERM', 'SIGINT']) process.on(end, () => process.exit(1))

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    path: { type: 'string' },
  },
})
const [requests, seed] = [Number(values.requests), Number(values.seed)]
console.log(`${requests} requests, seed ${seed}`)

const service = await target()
let failed: boolean
try {
  const { url, key } = service
  const { counts, failure } = await fuzz({ url, key, requests, seed, path: values.path })
  console.log(countLines(counts).join('\n'))
  const sent = [...counts.values()].flatMap((statuses) => [...statuses.values()]).reduce((a, b) => a + b, 0)
  console.log(failure ?? `${sent} requests, no 5xx, no undeclared answer`)
  failed = failure !== null
} finally {
  await service.stop()
}
process.exit(failed ? 1 : 0)

async function target(): Promise<{ url: string; key: string; stop(): Promise<void> }> {
  const { IMG42_URL: url, IMG42_KEY: key } = process.env
  if (url && key) return { url: url.replace(/\/$/, ''), key, stop: async () => {} }
  const database = await startThrowAwayDatabase()
  const stack = await startContractStack(database.url)
  return {
    ...stack,
    async stop() {
      await stack.stop()
      await database.stop()
    },
  }
}
