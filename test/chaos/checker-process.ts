import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { CheckerOrder, CheckerReport } from './checker/ledger.ts'

export interface CheckerProcess {
  /** Ends the load, waits for the backlog to drain, audits, and resolves with what the checker found. */
  finish(): Promise<CheckerReport>
}

export function startChecker(order: CheckerOrder): CheckerProcess {
  const child = fork(fileURLToPath(new URL('checker/main.ts', import.meta.url)), [JSON.stringify(order)])
  const reported = once(child, 'message') as Promise<[CheckerReport]>
  const exited = once(child, 'exit')
  return {
    async finish() {
      child.send('finish')
      const report = await Promise.race([reported, exited.then(() => null)])
      if (!report) throw new Error('the checker ended without a report')
      await exited
      return report[0]
    },
  }
}
