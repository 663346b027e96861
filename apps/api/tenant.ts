import type { Request } from 'express'

/** Whose request it is. There is one tenant as long as there are no API keys. */
export function tenantOf(_request: Request): string {
  return 'default'
}
