/** Whose jobs are whose: API keys and what their tenants may do. */
export interface Tenants {
  /**
   * The tenant of the key with this SHA-256; null for a key that is unknown or revoked. Read from the table at each
   * call: a key is dead as soon as its revocation is committed.
   *
   * @throws {DependencyError} when the table cannot be asked
   */
  findByKey(keyHash: Uint8Array): Promise<KnownKey | null>
  /**
   * How many of the tenant's jobs are QUEUED or RUNNING; what is over `atMost` is not counted.
   *
   * @throws {DependencyError} when the table cannot be asked
   */
  countInFlight(tenant: string, atMost: number): Promise<number>
}

export interface KnownKey {
  keyHash: Uint8Array
  tenant: Tenant
}

export interface Tenant {
  /** Its name, as its jobs have it. */
  name: string
  /** null: none, as without keys. */
  limits: TenantLimits | null
}

export interface TenantLimits {
  /** Requests a second, in the long run, to one API process. */
  ratePerSecond: number
  /** Requests at once, after a pause. */
  burst: number
  /** Jobs that are QUEUED or RUNNING. */
  maxInFlight: number
}
