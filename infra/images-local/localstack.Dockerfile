# In place of localstack/localstack: the same version from PyPI, with what S3 and SQS need.
FROM debian:trixie-slim
ARG VERSION
WORKDIR /opt/code/localstack
RUN apt-get update \
  && apt-get install -y --no-install-recommends python3-venv curl openssl \
  && rm -rf /var/lib/apt/lists/*
# After the packages, which bring a bundle of their own.
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY pip.conf /etc/pip.conf
COPY constraints.txt ./
RUN python3 -m venv .venv \
  && .venv/bin/pip install --no-cache-dir --constraint constraints.txt "localstack-core[runtime]==$VERSION"
# The official image's place for state.
RUN install --directory --mode 777 /var/lib/localstack /usr/lib/localstack
ENV PATH=/opt/code/localstack/.venv/bin:$PATH PYTHONUNBUFFERED=1 USER=localstack
VOLUME /var/lib/localstack
EXPOSE 4566
ENTRYPOINT ["localstack-supervisor"]
