/**
 * A launcher for the tests to kill: starts the Postgres of the folder that is its argument, says on one line where it
 * runs, and stays.
 */
import { startPostgres } from './postgres.ts'

try {
  const { url } = await startPostgres({ dataDir: process.argv[2]!, log: () => {} })
  console.log(JSON.stringify({ url }))
  setInterval(() => {}, 60_000)
} catch (error) {
  console.log(JSON.stringify({ error: (error as Error).message }))
  process.exitCode = 1
}
