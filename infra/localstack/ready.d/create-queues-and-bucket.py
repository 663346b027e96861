"""Creates the bucket, the queue and its dead-letter queue in LocalStack, each time that it starts.

LocalStack runs this file inside its own process once its services answer, and keeps nothing over a restart. What is
there already is left as it is. What is there and set up otherwise is refused: the file raises, LocalStack logs each
difference and reports the init as failed, and no app is started on a queue that loses messages.
"""

import json
import os
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

BUCKET = "img42"
QUEUE = "img42-jobs"
DEAD_LETTER_QUEUE = "img42-dead-letters"
POLICY_FILE = Path("/etc/localstack/init/queue-policy.json")
ACCOUNT = "000000000000"


class DriftError(Exception):
    """A queue is set up otherwise than the policy says; the message names each difference."""


def main():
    policy = json.loads(POLICY_FILE.read_text())
    region = os.environ["AWS_REGION"]
    create_bucket(client("s3", region), region)

    sqs = client("sqs", region)
    differences = [
        *ensure_queue(
            sqs,
            DEAD_LETTER_QUEUE,
            {
                "MessageRetentionPeriod": policy["dead_letter_retention_seconds"],
                # No other queue's messages may end up among the jobs' dead letters.
                "RedriveAllowPolicy": {
                    "redrivePermission": "byQueue",
                    "sourceQueueArns": [arn(QUEUE, region)],
                },
            },
        ),
        *ensure_queue(
            sqs,
            QUEUE,
            {
                "VisibilityTimeout": policy["visibility_seconds"],
                "MessageRetentionPeriod": policy["retention_seconds"],
                "RedrivePolicy": {
                    "deadLetterTargetArn": arn(DEAD_LETTER_QUEUE, region),
                    "maxReceiveCount": policy["max_receive_count"],
                },
            },
        ),
    ]
    if differences:
        raise DriftError(" ".join(differences))


def client(service, region):
    return boto3.client(
        service,
        region_name=region,
        endpoint_url="http://localhost:4566",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(connect_timeout=5, read_timeout=30, s3={"addressing_style": "path"}),
    )


def arn(queue, region):
    return f"arn:aws:sqs:{region}:{ACCOUNT}:{queue}"


def create_bucket(s3, region):
    try:
        s3.head_bucket(Bucket=BUCKET)
    except ClientError as error:
        if error.response["Error"]["Code"] != "404":
            raise
        # S3 takes every region's name here but that of its first.
        place = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        s3.create_bucket(Bucket=BUCKET, **place)


def ensure_queue(sqs, name, wanted):
    """Creates the queue if there is none. Returns a sentence for each attribute that is not as `wanted`."""
    try:
        url = sqs.get_queue_url(QueueName=name)["QueueUrl"]
    except sqs.exceptions.QueueDoesNotExist:
        attributes = {
            key: json.dumps(value) if isinstance(value, dict) else str(value) for key, value in wanted.items()
        }
        url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return [
        f"The queue {name} has {key} {found.get(key, 'not set')}; it has to be {json.dumps(value)}."
        for key, value in wanted.items()
        if plain(found.get(key)) != plain(value)
    ]


def plain(value):
    """An attribute as values that compare: SQS gives numbers as text, and policies as JSON in text."""
    if isinstance(value, str):
        try:
            return plain(json.loads(value))
        except ValueError:
            return value
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return value


main()
