import { spawnSync } from 'node:child_process'

/** Whom Postgres runs as when that is not the user who runs this process. */
export interface Account {
  uid: number
  gid: number
}

const NAME = 'postgres'

/**
 * The system's user `postgres`, as whom root has to run Postgres, which refuses to run as root. Created where it is
 * missing.
 *
 * @throws when it is missing and cannot be created
 */
export function postgresAccount(): Account {
  const account = findAccount()
  if (account) return account
  run('groupadd', '--system', NAME)
  const problem = run(
    'useradd',
    ...['--system', '--gid', NAME, '--no-create-home', '--home-dir', '/nonexistent'],
    ...['--shell', '/usr/sbin/nologin', NAME],
  )
  // Looked up again whatever useradd said: another process may have been quicker.
  const created = findAccount()
  if (created) return created
  throw new Error(
    `Postgres does not run as root, and the user "${NAME}" that it would run as is missing and could not be created ` +
      `(${problem}). Create that user, or run img42 as another user than root.`,
  )
}

/** Whether the account can enter `folder`. Asked of the kernel, which also knows of groups, ACLs and mounts. */
export function canEnter(account: Account, folder: string): boolean {
  const { status } = spawnSync('/bin/sh', ['-c', 'cd "$0"', folder], {
    ...account,
    cwd: '/',
    stdio: 'ignore',
  })
  return status === 0
}

function findAccount(): Account | null {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, NAME], { encoding: 'utf8' }))
  if (uid?.status !== 0 || gid?.status !== 0) return null
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

/** What the command said when it went wrong, in one line. */
function run(command: string, ...args: string[]): string {
  const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` }
  const { error, stderr } = spawnSync(command, args, { env, encoding: 'utf8' })
  return error ? `${command}: ${error.message}` : stderr.trim().replaceAll('\n', ' ')
}
