#!/bin/sh
# As much of the official image's entrypoint as infra/compose.yaml uses: POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB.
set -eu

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  user=${POSTGRES_USER:-postgres}
  # Made elsewhere and renamed once whole: a half-made cluster would be taken for a finished one at the next start.
  unfinished=$PGDATA.unfinished
  rm -rf "$unfinished"
  mkdir -p "$(dirname "$PGDATA")"
  printf '%s\n' "${POSTGRES_PASSWORD:?has to be set}" >/tmp/password
  initdb --pgdata="$unfinished" --username="$user" --pwfile=/tmp/password \
    --encoding=UTF8 --auth-local=trust --auth-host=scram-sha-256
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$unfinished/pg_hba.conf"
  if [ "${POSTGRES_DB:-$user}" != postgres ]; then
    echo "CREATE DATABASE \"${POSTGRES_DB:-$user}\"" | postgres --single -D "$unfinished" postgres
  fi
  mv "$unfinished" "$PGDATA"
fi

exec "$@" -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql
