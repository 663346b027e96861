import { Duration } from 'aws-cdk-lib'
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import type { JobsDatabase } from './database.ts'
import type { ServiceMetrics } from './metrics.ts'
import type { JobQueue } from './queues.ts'
import { PROMISE_SECONDS } from './scaling.ts'

interface Rule {
  says: string
  metric: IMetric
  above: number
  /** For so many minutes. */
  minutes: number
}

/** Each alarm tells the topic when it begins and when it is over. docs/operations.md says what to do. */
export class Alarms extends Construct {
  readonly topic: Topic

  constructor(
    scope: Construct,
    { queue, database, metrics }: { queue: JobQueue; database: JobsDatabase; metrics: ServiceMetrics },
  ) {
    super(scope, 'Alarms')
    this.topic = new Topic(this, 'Topic', { displayName: 'img42' })
    const { backlog, completions } = metrics
    const rules: Record<string, Rule> = {
      DeadLetters: {
        says: 'a message could not be handled',
        metric: queue.deadLetters.metricApproximateNumberOfMessagesVisible({ period: MINUTE }),
        ...{ above: 0, minutes: 1 },
      },
      DeadLettersTakenIn: {
        says: 'a message came out of the dead-letter queue',
        metric: metrics.deadLetters,
        ...{ above: 0, minutes: 1 },
      },
      Exhausted: {
        says: 'a job has failed for every attempt that it had',
        metric: metrics.exhausted,
        ...{ above: 0, minutes: 1 },
      },
      FalseQuarantines: {
        says: 'a finished job’s message landed among the dead letters',
        metric: metrics.falseQuarantines,
        ...{ above: 0, minutes: 1 },
      },
      OutboxAge: {
        says: 'accepted jobs are not published',
        metric: metrics.outboxAge,
        ...{ above: 60, minutes: 3 },
      },
      OldestJob: {
        says: 'jobs wait for longer than promised although workers were added',
        metric: metrics.oldestJobAge,
        ...{ above: 10 * PROMISE_SECONDS, minutes: 5 },
      },
      Repairs: {
        says: 'a sweep had to repair what ought not to break',
        metric: metrics.repairs,
        ...{ above: 0, minutes: 1 },
      },
      Standstill: {
        says: 'jobs wait, and none is completed',
        metric: new MathExpression({
          // A minute without a completion has no line to count.
          expression: 'IF(backlog > 0 AND FILL(completions, 0) == 0, 1, 0)',
          usingMetrics: { backlog, completions },
          period: MINUTE,
        }),
        ...{ above: 0, minutes: 10 },
      },
      // The reconciler says how things are; silence is not good news.
      Silence: {
        says: 'the reconciler does not report',
        metric: new MathExpression({
          expression: 'IF(FILL(backlog, -1) < 0, 1, 0)',
          usingMetrics: { backlog },
          period: MINUTE,
        }),
        ...{ above: 0, minutes: 5 },
      },
      DatabaseStorage: {
        says: 'less than 10 GB are left to the database',
        metric: new MathExpression({
          expression: '10000000000 - free',
          usingMetrics: { free: database.instance.metricFreeStorageSpace({ period: MINUTE }) },
          period: MINUTE,
        }),
        ...{ above: 0, minutes: 5 },
      },
      DatabaseConnections: {
        says: 'four fifths of the connections that the workers’ cap leaves are taken',
        metric: database.instance.metricDatabaseConnections({ period: MINUTE }),
        ...{ above: 0.8 * database.maxConnections, minutes: 5 },
      },
    }
    for (const [name, { says, metric, above, minutes }] of Object.entries(rules)) {
      const alarm = new Alarm(this, name, {
        alarmName: `img42-${name}`,
        alarmDescription: says,
        metric,
        threshold: above,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        evaluationPeriods: minutes,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      })
      const tell = new SnsAction(this.topic)
      alarm.addAlarmAction(tell)
      alarm.addOkAction(tell)
    }
  }
}

const MINUTE = Duration.minutes(1)
