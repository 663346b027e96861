import type { Kysely } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import { countConnections } from '../../db/connect.ts'
import type { Database } from '../../db/schema.ts'

/** Tells of the pools, by name, how many of their connections are in use and how many statements wait for one. */
export function observePools(registry: Registry, pools: Record<string, Kysely<Database>>): void {
  const registers = [registry]
  new Gauge({
    ...{ name: 'img42_db_pool_connections', help: 'Connections to the database', registers },
    labelNames: ['pool', 'state'] as const,
    collect() {
      for (const [pool, db] of Object.entries(pools)) {
        const { inUse, idle } = countConnections(db)
        this.set({ pool, state: 'in_use' }, inUse)
        this.set({ pool, state: 'idle' }, idle)
      }
    },
  })
  new Gauge({
    ...{ name: 'img42_db_pool_waiting', help: 'Statements that wait for a connection', registers },
    labelNames: ['pool'] as const,
    collect() {
      for (const [pool, db] of Object.entries(pools)) this.set({ pool }, countConnections(db).waiting)
    },
  })
  new Gauge({
    ...{ name: 'img42_db_pool_max', help: 'Connections at most', registers },
    labelNames: ['pool'] as const,
    collect() {
      for (const [pool, db] of Object.entries(pools)) this.set({ pool }, countConnections(db).max)
    },
  })
}
