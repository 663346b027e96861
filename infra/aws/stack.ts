import { CfnOutput, CfnParameter, Stack, type StackProps } from 'aws-cdk-lib'
import { GatewayVpcEndpointAwsService, SecurityGroup, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2'
import { ContainerImage, type FargateService } from 'aws-cdk-lib/aws-ecs'
import type { Construct } from 'constructs'
import { CONNECTIONS } from '../connections.ts'
import { Alarms } from './alarms.ts'
import { createCluster, createService, createTask, type Platform, type Task } from './apps.ts'
import { JobsDatabase } from './database.ts'
import { publish } from './load-balancer.ts'
import { serviceMetrics } from './metrics.ts'
import { type AppName, permissionsOf } from './permissions.ts'
import { JobQueue } from './queues.ts'
import { scaleWorkers } from './scaling.ts'
import { Storage } from './storage.ts'

const API_PORT = 8080
const WORKER_CONCURRENCY = 2

const COUNT = { api: 2, reconciler: 2 }

/** The whole of img42 in one region. */
export class Img42Stack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props)
    const vpc = createVpc(this)
    const { bucket } = new Storage(this)
    const queue = new JobQueue(this, 'jobs')
    const database = new JobsDatabase(this, {
      vpc,
      tls: new CfnParameter(this, 'DatabaseTls', {
        description:
          'how the database is connected to: sslmode=verify-full&sslrootcert=… for an image with RDS’s authorities',
        default: 'uselibpqcompat=true&sslmode=require',
      }).valueAsString,
    })
    const image = ContainerImage.fromRegistry(
      new CfnParameter(this, 'Image', { description: 'the image’s name, with a tag or digest' })
        .valueAsString,
    )
    const platform: Platform = { vpc, cluster: createCluster(this, vpc), image, database }
    const permissions = permissionsOf(bucket, queue)
    const aws = { QUEUE_URL: queue.jobs.queueUrl, S3_BUCKET: bucket.bucketName }

    const group = (name: string) => {
      const securityGroup = new SecurityGroup(this, `${name}Group`, { vpc, description: `img42 ${name}` })
      database.allowFrom(securityGroup)
      return securityGroup
    }
    const run = (name: string, app: AppName, task: Task, desiredCount: number): FargateService => {
      for (const statement of permissions[app]) task.definition.addToTaskRolePolicy(statement)
      return createService(this, name, platform, task, { desiredCount, securityGroup: group(name) })
    }

    const api = createTask(this, 'Api', platform, {
      ...{ program: 'apps/api/main.ts', cpu: 1_024, memoryMiB: 2_048, port: API_PORT },
      environment: { ...aws, HOST: '0.0.0.0', PORT: String(API_PORT) },
    })
    publish(this, vpc, run('Api', 'api', api, COUNT.api), API_PORT)

    const worker = createTask(this, 'Worker', platform, {
      ...{ program: 'apps/worker/main.ts', cpu: 2_048, memoryMiB: 8_192 },
      environment: { ...aws, CONCURRENCY: String(WORKER_CONCURRENCY) },
    })
    const workers = run('Worker', 'worker', worker, 1)

    const reconciler = createTask(this, 'Reconciler', platform, {
      ...{ program: 'apps/reconciler/main.ts', cpu: 512, memoryMiB: 1_024, environment: aws },
    })
    // Two, so that the outbox does not wait for one to be replaced; any number may run.
    run('Reconciler', 'reconciler', reconciler, COUNT.reconciler)

    // One-shot: run before a new version of the services, which expect its schema.
    const migrate = createTask(this, 'Migrate', platform, {
      program: 'db/migrate.ts',
      cpu: 256,
      memoryMiB: 512,
    })
    new CfnOutput(this, 'MigrateTaskArn', { value: migrate.definition.taskDefinitionArn })
    new CfnOutput(this, 'MigrateGroupId', { value: group('Migrate').securityGroupId })

    const metrics = serviceMetrics(this, { reconciler: reconciler.logs, worker: worker.logs })
    scaleWorkers(workers, metrics, maxWorkers(database.maxConnections))
    const alarms = new Alarms(this, { queue, database, metrics })
    new CfnOutput(this, 'AlarmTopic', { value: alarms.topic.topicArn })
  }
}

function createVpc(scope: Construct): Vpc {
  return new Vpc(scope, 'Vpc', {
    maxAzs: 2,
    natGateways: 1,
    subnetConfiguration: [
      { name: 'public', subnetType: SubnetType.PUBLIC },
      { name: 'apps', subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      { name: 'database', subnetType: SubnetType.PRIVATE_ISOLATED },
    ],
    // Originals and outputs would otherwise be paid for by the gigabyte at the NAT.
    gatewayEndpoints: { s3: { service: GatewayVpcEndpointAwsService.S3 } },
  })
}

/** More workers than the database has connections for would only take them from each other; a deploy doubles each app. */
export function maxWorkers(maxConnections: number): number {
  const others = 2 * (COUNT.api * CONNECTIONS.api() + COUNT.reconciler * CONNECTIONS.reconciler())
  return Math.floor((0.9 * maxConnections - others) / (2 * CONNECTIONS.worker(WORKER_CONCURRENCY)))
}
