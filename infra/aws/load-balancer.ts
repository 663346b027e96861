import { CfnOutput, CfnParameter, Duration } from 'aws-cdk-lib'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import type { Vpc } from 'aws-cdk-lib/aws-ec2'
import type { FargateService } from 'aws-cdk-lib/aws-ecs'
import {
  ApplicationLoadBalancer,
  ApplicationProtocol,
  type ApplicationTargetGroup,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2'
import type { Construct } from 'constructs'

/** The API behind HTTPS. Nothing listens without encryption. */
export function publish(
  scope: Construct,
  vpc: Vpc,
  api: FargateService,
  port: number,
): ApplicationTargetGroup {
  const certificateArn = new CfnParameter(scope, 'CertificateArn', {
    description: 'the certificate of the name under which the API is reached',
  }).valueAsString
  const balancer = new ApplicationLoadBalancer(scope, 'LoadBalancer', {
    vpc,
    internetFacing: true,
    dropInvalidHeaderFields: true,
    // Below the API's keep-alive of 65 s: the balancer is the one to close, or a request meets a closed connection.
    idleTimeout: Duration.seconds(60),
  })
  const targets = balancer
    .addListener('Https', {
      protocol: ApplicationProtocol.HTTPS,
      certificates: [Certificate.fromCertificateArn(scope, 'Certificate', certificateArn)],
    })
    .addTargets('Api', {
      port,
      protocol: ApplicationProtocol.HTTP,
      targets: [api],
      // An upload in flight is let end, as long as the API itself lets it.
      deregistrationDelay: Duration.seconds(30),
      healthCheck: {
        path: '/readyz',
        interval: Duration.seconds(10),
        timeout: Duration.seconds(5),
        healthyThresholdCount: 2,
        unhealthyThresholdCount: 3,
      },
    })
  new CfnOutput(scope, 'ApiName', { value: balancer.loadBalancerDnsName })
  return targets
}
