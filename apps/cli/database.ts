import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { databaseUrlFile } from '../../infra/data-dir.ts'

/**
 * The database to work on: the one of `DATABASE_URL`, or that of the `npm start` which runs on `DATA_DIR`.
 *
 * @throws when there is neither
 */
export function findDatabaseUrl(env: NodeJS.ProcessEnv): string {
  if (env.DATABASE_URL) {
    if (/^postgres(ql)?:\/\//.test(env.DATABASE_URL)) return env.DATABASE_URL
    throw new Error('DATABASE_URL has to begin with postgres://')
  }
  const dataDir = env.DATA_DIR || '.img42'
  const file = databaseUrlFile(path.resolve(dataDir))
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  throw new Error(
    `no database was found. Set DATABASE_URL, or run npm start beside this (its DATA_DIR is looked for in ${dataDir}).`,
  )
}

/** What an error of the database means for whoever typed the command. */
export function explainDatabaseError(error: unknown): string {
  const { code, message } = error as { code?: string; message: string }
  switch (code) {
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EHOSTUNREACH':
      return `the database does not answer (${code}). Is it running, and is DATABASE_URL right?`
    case '28P01':
    case '28000':
      return 'the database refuses the user or the password of DATABASE_URL.'
    case '3D000':
      return 'the database that DATABASE_URL names does not exist.'
    case '42P01':
    case '42703':
      return 'the database has not this version’s tables. Run: node infra/run.mjs db/migrate.ts'
    default:
      return message
  }
}
