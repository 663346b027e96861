// The first half of `npm run test:observed`: Prometheus' own tool on the rules, their syntax, and each of them on recorded
// series. Says so where the tool is missing. The second half is test/observed.
import { spawnSync } from 'node:child_process'

const CHECKS = [
  ['check', 'rules', 'rules.yaml'],
  ['test', 'rules', 'rules.test.yaml'],
  ['check', 'config', '--syntax-only', 'prometheus.yaml'],
]

if (spawnSync('promtool', ['--version']).error) {
  console.log(
    'LEFT OUT: promtool is not installed (Debian: apt-get install prometheus). No rule was tested on series.',
  )
} else {
  for (const args of CHECKS) {
    const { status } = spawnSync('promtool', args, { cwd: import.meta.dirname, stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
}
