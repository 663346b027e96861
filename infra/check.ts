/** `npm run check`: formatting, linting and types, all of them, whatever the first one says. */
import { spawnSync } from 'node:child_process'

const checks: [name: string, command: string, ...args: string[]][] = [
  ['format and lint', 'node_modules/.bin/biome', 'check', '--error-on-warnings'],
  ['types', process.execPath, 'node_modules/typescript/bin/tsc', '--noEmit'],
]

let failed = false
for (const [name, command, ...args] of checks) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  console.log(`${status === 0 ? 'ok' : 'FAILED'}  ${name}`)
  failed ||= status !== 0
}
process.exitCode = failed ? 1 : 0
