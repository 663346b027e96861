import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { InstanceType, Port, type SecurityGroup, SubnetType, type Vpc } from 'aws-cdk-lib/aws-ec2'
import {
  Credentials,
  DatabaseInstance,
  DatabaseInstanceEngine,
  ParameterGroup,
  PostgresEngineVersion,
  StorageType,
} from 'aws-cdk-lib/aws-rds'
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'

const NAME = 'img42'
/** Set rather than left to the instance’s size, because the cap on workers is computed from it. */
const MAX_CONNECTIONS = 500

/**
 * The truth about every job. Two zones, with a synchronous standby: a failover loses nothing that was acknowledged, which is
 * what the promise "accepted is never lost" stands on.
 */
export class JobsDatabase extends Construct {
  /** With `username` and `password`. */
  readonly secret: ISecret
  /** Without user and password, which come from the secret as PGUSER and PGPASSWORD. */
  readonly url: string
  readonly instance: DatabaseInstance
  readonly maxConnections = MAX_CONNECTIONS

  /** @param tls the part of the URL that says so, such as `sslmode=require` */
  constructor(scope: Construct, { vpc, tls }: { vpc: Vpc; tls: string }) {
    super(scope, 'Database')
    const engine = DatabaseInstanceEngine.postgres({ version: PostgresEngineVersion.of('18.1', '18') })
    this.instance = new DatabaseInstance(this, 'Instance', {
      engine,
      databaseName: NAME,
      credentials: Credentials.fromGeneratedSecret(NAME),
      instanceType: new InstanceType('m7g.large'),
      multiAz: true,
      vpc,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
      storageType: StorageType.GP3,
      allocatedStorage: 100,
      maxAllocatedStorage: 1_000,
      storageEncrypted: true,
      backupRetention: Duration.days(7),
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
      autoMinorVersionUpgrade: true,
      parameterGroup: new ParameterGroup(this, 'Parameters', {
        engine,
        parameters: {
          'rds.force_ssl': '1',
          max_connections: String(MAX_CONNECTIONS),
          // A transaction that its process forgot would keep dead rows in the hot tables for ever.
          idle_in_transaction_session_timeout: '60000',
          // The outbox and the queue of sweeps live from rows that come and go.
          autovacuum_vacuum_scale_factor: '0.02',
        },
      }),
    })
    this.secret = this.instance.secret!
    const { hostname, port } = this.instance.instanceEndpoint
    // Encrypted in any case (rds.force_ssl). Verified only where the parameter says so: the image holds no copy of RDS's
    // authorities by itself.
    this.url = `postgres://${hostname}:${port}/${NAME}?${tls}`
  }

  allowFrom(group: SecurityGroup): void {
    this.instance.connections.allowFrom(group, Port.tcp(5432))
  }
}
