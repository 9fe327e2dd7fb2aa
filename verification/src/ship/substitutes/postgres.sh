#!/bin/bash
# Stands in for the entry point of the image docker.io/library/postgres, as far as deploy/compose.yaml uses it.
set -euo pipefail
data=/var/lib/postgresql/data
export PATH=/usr/lib/postgresql/15/bin:$PATH
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$data" /run/postgresql
  chown postgres "$data" /run/postgresql
  chmod 700 "$data"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -e "$data/PG_VERSION" ]; then
  # shellcheck disable=SC2086 # several options
  initdb -D "$data" -U postgres --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256 ${POSTGRES_INITDB_ARGS:-}
  echo 'host all all all scram-sha-256' >>"$data/pg_hba.conf"
  pg_ctl -D "$data" -w -o "-c listen_addresses=''" start
  for file in /docker-entrypoint-initdb.d/*.sql; do
    psql -v ON_ERROR_STOP=1 --no-password --no-psqlrc -U postgres -f "$file"
  done
  pg_ctl -D "$data" -m fast -w stop
fi
exec postgres -D "$data" -c listen_addresses='*'
