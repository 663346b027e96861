import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  ObjectOwnership,
  StorageClass,
} from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'

/**
 * The bucket of originals and outputs. What a job no longer needs the service deletes itself, when its tombstone says so: a
 * lifecycle rule that expires objects would take them from jobs that are promised to last. The rules here are for what no
 * job knows of.
 */
export class Storage extends Construct {
  readonly bucket: Bucket

  constructor(scope: Construct) {
    super(scope, 'Storage')
    this.bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      lifecycleRules: [
        // An upload that died in the middle of its parts is billed and listed nowhere.
        { id: 'forget-unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
        // Originals are read when they are processed, and hardly ever again.
        {
          id: 'originals-by-their-use',
          prefix: 'originals/',
          transitions: [
            { storageClass: StorageClass.INTELLIGENT_TIERING, transitionAfter: Duration.days(0) },
          ],
        },
      ],
      removalPolicy: RemovalPolicy.RETAIN,
    })
  }
}
