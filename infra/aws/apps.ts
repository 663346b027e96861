import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import type { SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2'
import {
  Cluster,
  type ContainerImage,
  ContainerInsights,
  CpuArchitecture,
  FargateService,
  FargateTaskDefinition,
  LogDriver,
  OperatingSystemFamily,
  Secret,
} from 'aws-cdk-lib/aws-ecs'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import type { JobsDatabase } from './database.ts'

export interface AppShape {
  /** As in `node apps/worker/main.ts`. */
  program: string
  /** 1,024 are one core. */
  cpu: number
  memoryMiB: number
  port?: number
  environment?: Record<string, string>
}

export interface Platform {
  vpc: Vpc
  cluster: Cluster
  image: ContainerImage
  database: JobsDatabase
}

export interface Task {
  definition: FargateTaskDefinition
  logs: LogGroup
}

export function createCluster(scope: Construct, vpc: Vpc): Cluster {
  // Its RunningTaskCount is what the backlog is divided by.
  return new Cluster(scope, 'Cluster', { vpc, containerInsightsV2: ContainerInsights.ENABLED })
}

/** One program of the image as a task with a role of its own, which may do nothing until it is granted. */
export function createTask(scope: Construct, name: string, platform: Platform, shape: AppShape): Task {
  const { program, cpu, memoryMiB, port, environment } = shape
  const { database, image } = platform
  const logs = new LogGroup(scope, `${name}Logs`, {
    logGroupName: `/img42/${name.toLowerCase()}`,
    retention: RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.DESTROY,
  })
  const definition = new FargateTaskDefinition(scope, `${name}Task`, {
    cpu,
    memoryLimitMiB: memoryMiB,
    runtimePlatform: {
      cpuArchitecture: CpuArchitecture.X86_64,
      operatingSystemFamily: OperatingSystemFamily.LINUX,
    },
  })
  definition.addVolume({ name: 'tmp' })
  const container = definition.addContainer('app', {
    image,
    command: ['node', program],
    environment: { DATABASE_URL: database.url, AWS_REGION: Stack.of(scope).region, ...environment },
    secrets: {
      PGUSER: Secret.fromSecretsManager(database.secret, 'username'),
      PGPASSWORD: Secret.fromSecretsManager(database.secret, 'password'),
    },
    logging: LogDriver.awsLogs({ logGroup: logs, streamPrefix: name.toLowerCase() }),
    readonlyRootFilesystem: true,
    user: '10001:10001',
    // Above STOP_GRACE_MS (60 s), within which an app stops by itself.
    stopTimeout: Duration.seconds(70),
    ...(port !== undefined && { portMappings: [{ containerPort: port }] }),
  })
  container.addMountPoints({ containerPath: '/tmp', sourceVolume: 'tmp', readOnly: false })
  return { definition, logs }
}

/** Keeps a task running, a new version beside the old one until it is healthy, and the old one again when it never is. */
export function createService(
  scope: Construct,
  name: string,
  { cluster, database }: Platform,
  task: Task,
  { desiredCount, securityGroup }: { desiredCount: number; securityGroup: SecurityGroup },
): FargateService {
  const service = new FargateService(scope, `${name}Service`, {
    cluster,
    taskDefinition: task.definition,
    desiredCount,
    securityGroups: [securityGroup],
    minHealthyPercent: 100,
    maxHealthyPercent: 200,
    circuitBreaker: { rollback: true },
    enableExecuteCommand: false,
  })
  service.node.addDependency(database)
  return service
}
