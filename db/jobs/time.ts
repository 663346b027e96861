import { type RawBuilder, sql } from 'kysely'

/** `ms` milliseconds after the database's now, or before it where negative. */
export function fromNow(ms: number): RawBuilder<Date> {
  return sql<Date>`now() + ${milliseconds(ms)}`
}

export function milliseconds(ms: number): RawBuilder<string> {
  return sql<string>`${ms}::double precision * interval '1 millisecond'`
}
