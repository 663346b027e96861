import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { type Account, canEnter, postgresAccount } from './postgres-account.ts'

/**
 * Where root puts what user `postgres` cannot reach where it is. A place that persists: a temporary folder is emptied
 * by the system sooner or later, and accepted jobs with it.
 */
export const ELSEWHERE = '/var/lib/img42'

export interface Home {
  /** Holds the cluster; only its owner enters. */
  folder: string
  /** Whom Postgres has to run as; null for the current user. */
  account: Account | null
}

/**
 * The folder of the database: `<dataDir>/postgres`, or one below {@link ELSEWHERE}, named by the file
 * `<dataDir>/postgres-location`, when this is root and user `postgres` cannot reach `dataDir`. The choice is made once.
 * Needs the data directory's lock.
 *
 * @throws when what was chosen is gone, or this user cannot use it
 */
export function placeHome(dataDir: string): Home {
  const location = path.join(dataDir, 'postgres-location')
  const inside = path.join(dataDir, 'postgres')
  if (existsSync(location)) {
    const folder = readFileSync(location, 'utf8').trim()
    // Never made anew in silence: an empty database would forget every job that was accepted.
    if (!existsSync(folder)) {
      throw new Error(
        `${location} says that the database is in ${folder}, which is gone. Restore it, or delete ${dataDir} to begin anew.`,
      )
    }
    return { folder, account: ownerOf(folder) }
  }
  if (existsSync(inside)) {
    const account = ownerOf(inside)
    if (account && !canEnter(account, dataDir)) {
      throw new Error(
        `The database in ${inside} belongs to user ${account.uid}, who cannot enter ${dataDir} any more. ` +
          'Open the folders on the way to it again (chmod o+x).',
      )
    }
    return { folder: inside, account }
  }
  if (process.getuid?.() !== 0) {
    mkdirSync(inside, { mode: 0o700 })
    return { folder: inside, account: null }
  }
  const account = postgresAccount()
  if (canEnter(account, dataDir)) {
    mkdirSync(inside, { mode: 0o700 })
    chownSync(inside, account.uid, account.gid)
    return { folder: inside, account }
  }
  const folder = mkdtempSync(path.join(makeElsewhere(), 'cluster-'))
  chownSync(folder, account.uid, account.gid)
  writeFileSync(location, `${folder}\n`)
  return { folder, account }
}

/** Makes {@link ELSEWHERE}, which everybody may enter, whatever this process's umask. */
export function makeElsewhere(): string {
  try {
    mkdirSync(ELSEWHERE, { recursive: true })
    chmodSync(ELSEWHERE, 0o755)
  } catch (error) {
    const reason = (error as Error).message
    throw new Error(
      `User postgres, as whom root runs Postgres, cannot enter a folder on the way to the embedded one, ` +
        `and the place for that case, ${ELSEWHERE}, cannot be made: ${reason}`,
      { cause: error },
    )
  }
  return ELSEWHERE
}

/** Postgres runs as nobody but the owner of its cluster, and only root can choose whom it runs as. */
function ownerOf(folder: string): Account | null {
  const { uid, gid } = statSync(folder)
  const self = process.getuid?.() ?? uid
  if (self === uid) return null
  if (self === 0) return { uid, gid }
  throw new Error(
    `The database in ${folder} belongs to user ${uid}, and this is user ${self}. Run img42 as the user who began it.`,
  )
}
