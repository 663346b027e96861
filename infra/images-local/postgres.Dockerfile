# In place of postgres:18-bookworm: the binaries that the embedded default and the tests run on.
FROM debian:bookworm-slim
# For pg_isready and psql, which the embedded binaries lack.
RUN apt-get update \
  && apt-get install -y --no-install-recommends postgresql-client \
  && rm -rf /var/lib/apt/lists/*
# The official image's numbers and folders.
RUN groupadd --system --gid 999 postgres \
  && useradd --system --uid 999 --gid postgres --home-dir /var/lib/postgresql postgres \
  && install --directory --owner postgres --group postgres --mode 1777 /var/lib/postgresql \
  && install --directory --owner postgres --group postgres --mode 3777 /var/run/postgresql
COPY native /usr/local/pgsql
# The package lists its libraries' links instead of containing them.
RUN chmod 755 /usr/local/pgsql/bin/* && ldconfig -n /usr/local/pgsql/lib
COPY postgres-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
RUN chmod 755 /usr/local/bin/docker-entrypoint.sh
ENV PATH=/usr/local/pgsql/bin:$PATH LANG=C.UTF-8 PGDATA=/var/lib/postgresql/18/docker
VOLUME /var/lib/postgresql
USER postgres
STOPSIGNAL SIGINT
EXPOSE 5432
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
