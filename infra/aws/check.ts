// `npm run test:aws`: installs the CDK, a package of its own, then checks types, tests the template and synthesizes it.
// None of it needs an account, a region or a network once it is installed.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const here = import.meta.dirname
const root = path.join(here, '../..')

if (!installed()) run('npm', ['ci', '--loglevel=error'], here)
run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', here], root)
run(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'infra/aws/vitest.config.ts'],
  root,
)

const outdir = mkdtempSync(path.join(tmpdir(), 'img42-cdk-'))
try {
  run(process.execPath, [path.join(here, 'app.ts')], here, { CDK_OUTDIR: outdir })
  const template = readFileSync(path.join(outdir, 'img42.template.json'), 'utf8')
  const { Resources } = JSON.parse(template) as { Resources: object }
  console.log(`ok  synthesized: ${Object.keys(Resources).length} resources, ${template.length} characters`)
} finally {
  rmSync(outdir, { recursive: true, force: true })
}

/** Whether what is installed is what the lockfile names. */
function installed(): boolean {
  const hidden = path.join(here, 'node_modules/.package-lock.json')
  if (!existsSync(hidden)) return false
  const { packages: wanted } = JSON.parse(readFileSync(path.join(here, 'package-lock.json'), 'utf8'))
  const { packages: found } = JSON.parse(readFileSync(hidden, 'utf8'))
  return Object.entries(wanted as Record<string, { version?: string }>).every(
    ([name, { version }]) => name === '' || found[name]?.version === version,
  )
}

function run(program: string, args: string[], cwd: string, env: Record<string, string> = {}): void {
  const { status, signal, error } = spawnSync(program, args, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ...env },
    shell: process.platform === 'win32',
  })
  if (status === 0) return
  console.error(`img42: "${program} ${args.join(' ')}" ended with ${status ?? signal ?? error}`)
  process.exit(1)
}
