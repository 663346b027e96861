// Logs without end, and says over IPC how it goes on meanwhile: for log-output.test.ts.
import { createLog } from './log.ts'

const { log, output } = createLog('fixture', 'info')
let lines = 0
process.on('message', (message) => {
  if (message === 'how many') process.send!({ lines, waiting: process.stdout.writableLength })
  if (message === 'end') output.flush(500, () => process.exit(0))
})
setInterval(() => {
  for (let i = 0; i < 100; i++) log.info({ line: ++lines, filling: 'x'.repeat(1_000) }, 'a line')
}, 5)
