import { type RawBuilder, sql } from 'kysely'
import type { CallbackEvent } from '../../core/callback.ts'

/**
 * The part of a job's ending statement that owes a callback for each job that its part named `changed` returned: to the
 * job's own URL, or to what is the tenant's at that moment, or to nobody. A caller that ended nothing owes nothing. The
 * id is `callbackId(…)`.
 */
export function oweCallback(status: 'SUCCEEDED' | 'FAILED'): RawBuilder<unknown> {
  const event: CallbackEvent = status === 'SUCCEEDED' ? 'job.succeeded' : 'job.failed'
  return sql`insert into callbacks (callback_id, job_id, tenant, event, url, error_code, error_message, state, finished_at)
    select 'msg_' || substr(job_id, 5) || '_' || generation, job_id, tenant, ${event}, url, error_code, error_message,
      case when disabled_at is null then 'PENDING' else 'DISABLED' end, case when disabled_at is not null then now() end
    from (
      select job_id, generation, tenant, error_code, error_message,
        coalesce(changed.callback_url, tenants.callback_url) as url
      from changed left join tenants using (tenant)
    ) owed left join disabled_callback_urls using (tenant, url)
    where url is not null`
}
