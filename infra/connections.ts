/** How many connections each pool may hold open: one place, because what the database bears is computed from it. */
export const POOLS = {
  api: () => 10,
  // An attempt asks for one connection at a time; its heartbeat may ask for another meanwhile.
  worker: (concurrency: number) => 2 * concurrency + 1,
  reconciler: () => 5,
  /** The reconciler's second one: however much there is to tell, jobs do not wait for it. */
  callbacks: () => 3,
}

/** Of one process of each app at most, those that notify and listen included, which no pool has. */
export const CONNECTIONS = {
  api: () => POOLS.api() + 3,
  worker: (concurrency: number) => POOLS.worker(concurrency) + 1,
  reconciler: () => POOLS.reconciler() + POOLS.callbacks() + 2,
}
