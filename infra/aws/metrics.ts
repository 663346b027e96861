import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { FargateService } from 'aws-cdk-lib/aws-ecs'
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'

const NAMESPACE = 'img42'
const MINUTE = Duration.minutes(1)

/** What the reconciler logs of the service once a minute (`"msg":"state"`), as metrics of CloudWatch. */
export const STATE_FIELDS = {
  oldestJobAge: 'oldest_job_age_seconds',
  backlog: 'jobs_not_done',
  outboxAge: 'oldest_outbox_row_age_seconds',
  deadLetters: 'dead_letters',
  falseQuarantines: 'false_quarantines',
  repairs: 'sweep_repairs',
  completions: 'completions',
} as const

export type StateMetrics = Record<keyof typeof STATE_FIELDS, Metric>

export function stateMetrics(scope: Construct, reconcilerLogs: LogGroup): StateMetrics {
  const entries = Object.entries(STATE_FIELDS).map(([name, field]) => {
    new MetricFilter(scope, `Metric-${name}`, {
      logGroup: reconcilerLogs,
      filterPattern: FilterPattern.stringValue('$.msg', '=', 'state'),
      metricNamespace: NAMESPACE,
      metricName: field,
      metricValue: `$.${field}`,
    })
    const metric = new Metric({
      namespace: NAMESPACE,
      metricName: field,
      statistic: Stats.MAXIMUM,
      period: MINUTE,
    })
    return [name, metric]
  })
  return Object.fromEntries(entries)
}

/** Jobs that are not done for each worker that runs; 0 while the oldest is younger than it may be. */
export function lateBacklogPerTask(
  metrics: StateMetrics,
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
