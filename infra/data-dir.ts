import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'

/**
 * Makes the data folder if it is missing, with the folders above it.
 *
 * One by one: Node's recursive `mkdir` goes on for ever where the system denies that a folder can be made below one that
 * is there, as below /proc.
 *
 * @throws with a sentence that names the variable
 */
export function makeDataDir(dataDir: string): void {
  const folder = path.resolve(dataDir)
  try {
    const missing: string[] = []
    for (let above = folder; !existsSync(above); above = path.dirname(above)) missing.unshift(above)
    for (const each of missing) makeFolder(each)
    if (!statSync(folder).isDirectory()) throw new Error('it is no folder')
    accessSync(realpathSync(folder), constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new Error(
      `DATA_DIR ${dataDir} cannot be used: ${(error as Error).message}. Set DATA_DIR to a folder that this user may write in.`,
      { cause: error },
    )
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another process was quicker: the apps of one machine start together.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Where a running `npm start` leaves the URL of its database for the operators' commands; its owner alone reads it. */
export function databaseUrlFile(dataDir: string): string {
  return path.join(dataDir, 'database-url')
}
