import { Duration } from 'aws-cdk-lib'
import { AdjustmentType } from 'aws-cdk-lib/aws-applicationautoscaling'
import type { FargateService } from 'aws-cdk-lib/aws-ecs'
import { lateBacklogPerTask, type ServiceMetrics } from './metrics.ts'

/** How old the oldest job may be before workers are added. */
export const PROMISE_SECONDS = 60

/**
 * Workers by the age of the oldest job, which is what its client feels; how many are added at once, by the backlog that
 * each of them would have. CPU says nothing: a worker is busy with one job as with a thousand waiting.
 */
export function scaleWorkers(service: FargateService, metrics: ServiceMetrics, maxWorkers: number): void {
  const scaling = service.autoScaleTaskCount({ minCapacity: 1, maxCapacity: maxWorkers })
  scaling.scaleOnMetric('Late', {
    metric: lateBacklogPerTask(metrics, service, PROMISE_SECONDS),
    adjustmentType: AdjustmentType.PERCENT_CHANGE_IN_CAPACITY,
    minAdjustmentMagnitude: 1,
    cooldown: Duration.minutes(2),
    scalingSteps: [
      { upper: 0, change: 0 },
      { lower: 1, change: 20 },
      { lower: 200, change: 100 },
      { lower: 2_000, change: 300 },
    ],
  })
  scaling.scaleOnMetric('Idle', {
    metric: metrics.backlog,
    adjustmentType: AdjustmentType.PERCENT_CHANGE_IN_CAPACITY,
    minAdjustmentMagnitude: 1,
    // A worker that is stopped gives its jobs back: slowly, then.
    cooldown: Duration.minutes(5),
    evaluationPeriods: 10,
    scalingSteps: [
      { upper: 10, change: -20 },
      { lower: 100_000_000, change: 0 },
    ],
  })
}
