import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { FargateService } from 'aws-cdk-lib/aws-ecs'
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'

const NAMESPACE = 'img42'
const MINUTE = Duration.minutes(1)

/** What the apps log, as metrics of CloudWatch. */
const SOURCES = {
  // The reconciler's look at the database, once a minute. Each replica says the same.
  oldestJobAge: { app: 'reconciler', where: { msg: 'state' }, value: '$.oldest_job_age_seconds' },
  backlog: { app: 'reconciler', where: { msg: 'state' }, value: '$.jobs_not_done' },
  outboxAge: { app: 'reconciler', where: { msg: 'state' }, value: '$.oldest_outbox_row_age_seconds' },
  // Events, which are counted.
  repairs: { app: 'reconciler', where: { msg: 'repaired' } },
  deadLetters: { app: 'reconciler', where: { msg: 'dead letter' } },
  falseQuarantines: { app: 'reconciler', where: { msg: 'dead letter', verdict: 'false_quarantine' } },
  exhausted: { app: 'worker', where: { msg: 'ended', code: 'attempts_exhausted' } },
  completions: { app: 'worker', where: { msg: 'ended', status: 'SUCCEEDED' } },
} as const satisfies Record<string, Source>

interface Source {
  app: 'reconciler' | 'worker'
  /** The fields of a line that counts. */
  where: Record<string, string>
  /** Where the line has the value; otherwise each line is one. */
  value?: string
}

export type ServiceMetrics = Record<keyof typeof SOURCES, Metric>

export function serviceMetrics(
  scope: Construct,
  logs: Record<'reconciler' | 'worker', LogGroup>,
): ServiceMetrics {
  const entries = Object.entries(SOURCES).map(([metricName, { app, where, ...source }]: [string, Source]) => {
    const fields = Object.entries(where).map(([field, text]) =>
      FilterPattern.stringValue(`$.${field}`, '=', text),
    )
    new MetricFilter(scope, `Metric-${metricName}`, {
      logGroup: logs[app],
      filterPattern: FilterPattern.all(...fields),
      ...{ metricNamespace: NAMESPACE, metricName, metricValue: source.value ?? '1' },
    })
    const statistic = source.value ? Stats.MAXIMUM : Stats.SUM
    return [metricName, new Metric({ namespace: NAMESPACE, metricName, statistic, period: MINUTE })]
  })
  return Object.fromEntries(entries)
}

/** Jobs that are not done for each worker that runs; 0 while the oldest is younger than it may be. */
export function lateBacklogPerTask(
  metrics: ServiceMetrics,
  service: FargateService,
  promiseSeconds: number,
): MathExpression {
  return new MathExpression({
    expression: `IF(age > ${promiseSeconds}, backlog / MAX([tasks, 1]), 0)`,
    period: MINUTE,
    usingMetrics: {
      age: metrics.oldestJobAge,
      backlog: metrics.backlog,
      tasks: new Metric({
        namespace: 'ECS/ContainerInsights',
        metricName: 'RunningTaskCount',
        dimensionsMap: { ClusterName: service.cluster.clusterName, ServiceName: service.serviceName },
        statistic: Stats.AVERAGE,
        period: MINUTE,
      }),
    },
  })
}
