import { readFileSync } from 'node:fs'
import { App } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { Img42Stack, maxWorkers } from './stack.ts'

const template = Template.fromStack(new Img42Stack(new App(), 'img42'))
const policy = JSON.parse(readFileSync(new URL('../queue-policy.json', import.meta.url), 'utf8'))

describe('the queues', () => {
  it('have the visibility, the retention and the receive count of the one file that all read', () => {
    template.hasResourceProperties('AWS::SQS::Queue', {
      QueueName: 'img42-jobs',
      VisibilityTimeout: policy.visibility_seconds,
      MessageRetentionPeriod: policy.retention_seconds,
      RedrivePolicy: { maxReceiveCount: policy.max_receive_count },
      SqsManagedSseEnabled: true,
    })
    template.hasResourceProperties('AWS::SQS::Queue', {
      QueueName: 'img42-jobs-dead-letters',
      MessageRetentionPeriod: policy.dead_letter_retention_seconds,
      SqsManagedSseEnabled: true,
    })
  })

  it('keep the dead letters longer than the messages, and take none of another queue', () => {
    expect(policy.dead_letter_retention_seconds).toBeGreaterThan(policy.retention_seconds)
    template.hasResourceProperties('AWS::SQS::Queue', {
      QueueName: 'img42-jobs-dead-letters',
      RedriveAllowPolicy: { redrivePermission: 'byQueue', sourceQueueArns: [Match.anyValue()] },
    })
    const [deadLetters] = Object.values(
      template.findResources('AWS::SQS::Queue', { Properties: { RedriveAllowPolicy: Match.anyValue() } }),
    )
    const [source] = deadLetters!.Properties.RedriveAllowPolicy.sourceQueueArns
    expect(JSON.stringify(source)).toMatch(/:img42-jobs"/)
  })
})

it('the bucket is private, encrypted, reached by TLS alone, and forgets unfinished uploads', () => {
  template.hasResourceProperties('AWS::S3::Bucket', {
    PublicAccessBlockConfiguration: {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    },
    BucketEncryption: Match.anyValue(),
    LifecycleConfiguration: {
      Rules: Match.arrayWith([
        Match.objectLike({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 }, Status: 'Enabled' }),
      ]),
    },
  })
  const [bucket] = Object.values(template.findResources('AWS::S3::Bucket'))
  // Objects go when their job’s tombstone says so, and never by themselves.
  for (const rule of bucket!.Properties.LifecycleConfiguration.Rules) {
    expect(rule).not.toHaveProperty('ExpirationInDays')
  }
  const policies = JSON.stringify(template.findResources('AWS::S3::BucketPolicy'))
  expect(policies).toContain('"aws:SecureTransport":"false"')
})

it('the database has a standby, backups of a week, encryption, and is not deleted with the stack', () => {
  template.hasResource('AWS::RDS::DBInstance', {
    DeletionPolicy: 'Retain',
    Properties: {
      MultiAZ: true,
      StorageEncrypted: true,
      BackupRetentionPeriod: 7,
      DeletionProtection: true,
      PubliclyAccessible: false,
      EngineVersion: '18.1',
    },
  })
})

describe('what holds data', () => {
  it.each(['AWS::SQS::Queue', 'AWS::S3::Bucket', 'AWS::RDS::DBInstance'])('%s outlives the stack', (type) => {
    for (const resource of Object.values(template.findResources(type))) {
      expect(resource).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' })
    }
  })
})

describe('each app has a role of its own that may do what it does:', () => {
  const WANTED = {
    Api: {
      's3:ListBucket': 'bucket',
      's3:PutObject': 'originals',
      's3:AbortMultipartUpload': 'originals',
      's3:GetObject': 'originals outputs',
      's3:DeleteObject': 'originals outputs',
    },
    Worker: {
      's3:ListBucket': 'bucket',
      's3:GetObject': 'originals',
      's3:PutObject': 'outputs',
      's3:AbortMultipartUpload': 'outputs',
      'sqs:GetQueueAttributes': 'jobs',
      'sqs:GetQueueUrl': 'dead letters',
      'sqs:ReceiveMessage': 'jobs',
      'sqs:ChangeMessageVisibility': 'jobs',
      'sqs:DeleteMessage': 'jobs',
    },
    Reconciler: {
      's3:ListBucket': 'bucket',
      's3:DeleteObject': 'originals outputs',
      'sqs:GetQueueAttributes': 'jobs',
      'sqs:GetQueueUrl': 'dead letters',
      'sqs:SendMessage': 'jobs',
      'sqs:ReceiveMessage': 'dead letters',
      'sqs:ChangeMessageVisibility': 'dead letters',
      'sqs:DeleteMessage': 'dead letters',
    },
    Migrate: {},
  }

  it.each(Object.entries(WANTED))('%s, and nothing else', (name, wanted) => {
    expect(grantsOf(`${name}TaskTaskRole`)).toEqual(wanted)
  })

  it('none is granted by a wildcard', () => {
    for (const { Properties } of Object.values(template.findResources('AWS::IAM::Policy'))) {
      for (const { Action, Resource } of Properties.PolicyDocument.Statement) {
        expect([Action].flat().join()).not.toContain('*')
        // The registry's token has no resource; a parameter names the image, and with it no repository of ours.
        if (Resource === '*') expect(Action).toBe('ecr:GetAuthorizationToken')
      }
    }
  })
})

describe('the tasks', () => {
  const tasks = Object.values(template.findResources('AWS::ECS::TaskDefinition'))

  it('are four: api, worker, reconciler, and the migration, which is no service', () => {
    const programs = tasks.map(({ Properties }) => Properties.ContainerDefinitions[0].Command[1])
    expect(programs.sort()).toEqual([
      'apps/api/main.ts',
      'apps/reconciler/main.ts',
      'apps/worker/main.ts',
      'db/migrate.ts',
    ])
    template.resourceCountIs('AWS::ECS::Service', 3)
  })

  it('run as nobody, on a root that is read-only, with time to drain, and with the password in no variable', () => {
    for (const { Properties } of tasks) {
      const [container] = Properties.ContainerDefinitions
      expect(container).toMatchObject({ User: '10001:10001', ReadonlyRootFilesystem: true, StopTimeout: 70 })
      expect(container.Secrets.map(({ Name }: { Name: string }) => Name)).toEqual(['PGUSER', 'PGPASSWORD'])
      expect(JSON.stringify(container.Environment)).not.toMatch(/password|secret/i)
    }
  })
})

describe('the workers are scaled', () => {
  it('by the age of the oldest job, in steps of the backlog that each has', () => {
    const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'))
    const [late] = alarms.filter(({ Properties }) => JSON.stringify(Properties).includes('backlog / MAX'))
    const metrics = JSON.stringify(late!.Properties.Metrics)
    for (const part of ['oldestJobAge', 'backlog', 'RunningTaskCount', 'IF(age > 60']) {
      expect(metrics).toContain(part)
    }
  })

  it('to what the database has connections for, through a deploy as well', () => {
    const most = maxWorkers(500)
    template.hasResourceProperties('AWS::ApplicationAutoScaling::ScalableTarget', {
      MinCapacity: 1,
      MaxCapacity: most,
    })
    template.hasResourceProperties('AWS::RDS::DBParameterGroup', { Parameters: { max_connections: '500' } })
    // Pools, and those that notify and listen, of a worker of two slots.
    const [api, worker, reconciler] = [13, 6, 10]
    expect(2 * (most * worker + 2 * api + 2 * reconciler)).toBeLessThanOrEqual(0.9 * 500)
  })
})

it('the database is connected to by TLS, and verified where a parameter says by what', () => {
  template.hasParameter('DatabaseTls', { Default: 'uselibpqcompat=true&sslmode=require' })
  template.hasResourceProperties('AWS::RDS::DBParameterGroup', { Parameters: { 'rds.force_ssl': '1' } })
  const tasks = Object.values(template.findResources('AWS::ECS::TaskDefinition'))
  expect(tasks.length).toBeGreaterThan(3)
  for (const task of tasks) {
    const [container] = task.Properties.ContainerDefinitions
    const url = container.Environment.find(({ Name }: { Name: string }) => Name === 'DATABASE_URL')
    expect(JSON.stringify(url)).toContain('{"Ref":"DatabaseTls"}')
  }
})

describe('the alarms', () => {
  const ALARMS: Record<string, { above: number; minutes: number }> = {
    DeadLetters: { above: 0, minutes: 1 },
    DeadLettersTakenIn: { above: 0, minutes: 1 },
    Exhausted: { above: 0, minutes: 1 },
    FalseQuarantines: { above: 0, minutes: 1 },
    OutboxAge: { above: 60, minutes: 3 },
    OldestJob: { above: 600, minutes: 5 },
    Repairs: { above: 0, minutes: 1 },
    Standstill: { above: 0, minutes: 10 },
    Silence: { above: 0, minutes: 5 },
    DatabaseStorage: { above: 0, minutes: 5 },
    DatabaseConnections: { above: 400, minutes: 5 },
  }

  it.each(Object.entries(ALARMS))('%s', (name, { above, minutes }) => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: `img42-${name}`,
      Threshold: above,
      EvaluationPeriods: minutes,
      ComparisonOperator: 'GreaterThanThreshold',
      AlarmActions: [Match.anyValue()],
      OKActions: [Match.anyValue()],
    })
  })

  it('are these and no others', () => {
    const names = Object.values(template.findResources('AWS::CloudWatch::Alarm'))
      .map(({ Properties }) => Properties.AlarmName)
      .filter(Boolean)
    expect(names.sort()).toEqual(
      Object.keys(ALARMS)
        .map((name) => `img42-${name}`)
        .sort(),
    )
  })

  it.each([
    ['oldestJobAge', '{ $.msg = "state" }', '$.oldest_job_age_seconds'],
    ['backlog', '{ $.msg = "state" }', '$.jobs_not_done'],
    ['outboxAge', '{ $.msg = "state" }', '$.oldest_outbox_row_age_seconds'],
    ['repairs', '{ $.msg = "repaired" }', '1'],
    ['deadLetters', '{ $.msg = "dead letter" }', '1'],
    ['falseQuarantines', '{ ($.msg = "dead letter") && ($.verdict = "false_quarantine") }', '1'],
    ['exhausted', '{ ($.msg = "ended") && ($.code = "attempts_exhausted") }', '1'],
    ['completions', '{ ($.msg = "ended") && ($.status = "SUCCEEDED") }', '1'],
  ])('read %s from the lines %s', (name, pattern, value) => {
    template.hasResourceProperties('AWS::Logs::MetricFilter', {
      FilterPattern: pattern,
      MetricTransformations: [Match.objectLike({ MetricName: name, MetricValue: value })],
    })
  })
})

it('logs are kept for a month', () => {
  const logs = Object.values(template.findResources('AWS::Logs::LogGroup'))
  expect(logs.map(({ Properties }) => Properties.RetentionInDays)).toEqual([30, 30, 30, 30])
})

/** Each action that the role's policy allows, and on what. */
function grantsOf(role: string): Record<string, string> {
  const grants: Record<string, string> = {}
  for (const { Properties } of Object.values(template.findResources('AWS::IAM::Policy'))) {
    if (!Properties.Roles.some(({ Ref }: { Ref: string }) => Ref.startsWith(role))) continue
    for (const { Effect, Action, Resource } of Properties.PolicyDocument.Statement) {
      expect(Effect).toBe('Allow')
      for (const action of [Action].flat()) {
        grants[action] = [Resource].flat().map(nameOf).join(' ')
      }
    }
  }
  return grants
}

function nameOf(resource: unknown): string {
  const text = JSON.stringify(resource)
  const prefix = /\/(originals|outputs)\/\*/.exec(text)?.[1]
  if (prefix) return prefix
  if (text.includes('Bucket')) return 'bucket'
  return text.includes('DeadLetters') ? 'dead letters' : 'jobs'
}
