// The checker: a process of its own that shares no code with the service. It uploads as clients do, asks the API as
// clients do, and at the end reads the tables and the object store for itself.
import { setTimeout as delay } from 'node:timers/promises'
import { seededChance } from '../seeded-chance.ts'
import { audit } from './audit.ts'
import { isOpen, startLoad } from './client.ts'
import type { CheckerOrder, CheckerReport, Findings } from './ledger.ts'
import { look, startWatch } from './watch.ts'

process.on('disconnect', () => process.exit(1))

const order = JSON.parse(process.argv[2]!) as CheckerOrder
const findings: Findings = { lost: [], duplicated: [], unexpected: [] }
const load = startLoad(order, seededChance(order.seed), findings)
const { uploads } = load
const stop = new AbortController()
const watching = startWatch(order.apiUrl, uploads, findings, stop.signal)

await new Promise<void>((resolve) => process.once('message', () => resolve()))

const began = performance.now()
await load.finish()
while (uploads.some(isOpen) && performance.now() - began < order.drainMs) await delay(100)
const drained = !uploads.some(isOpen)
const drainedAfterMs = drained ? Math.round(performance.now() - began) : null
stop.abort()
await watching

// Once more, each of them: what has ended stays as it is.
for (const upload of uploads) {
  if (upload.jobId !== null && !(await look(order.apiUrl, upload, findings))) {
    findings.unexpected.push(`${upload.jobId}: no answer after the faults`)
  }
}
await audit({ ...order, patienceMs: 20_000 }, uploads, findings)

const report: CheckerReport = {
  attempted: uploads.length,
  accepted: uploads.filter(({ jobId }) => jobId !== null).length,
  succeeded: uploads.filter(({ status }) => status === 'SUCCEEDED').length,
  failed: uploads.filter(({ status }) => status === 'FAILED').length,
  unanswered: load.unanswered(),
  drainedAfterMs,
  ...findings,
}
process.send!(report, () => process.exit(0))
