#!/bin/sh
# Creates what compose.yaml needs in secrets/, if it does not exist: random passwords, and a self-signed certificate for a domain
# and its subdomains. Replace secrets/tls.crt and secrets/tls.key by a certificate that your clients trust.
set -eu
domain=${1:?usage: sh compose/create-secrets.sh DOMAIN}
cd "$(dirname "$0")/.."

# Users of containers must be able to read the files; other users of this machine cannot enter the folder.
mkdir -p secrets
chmod 700 secrets
cd secrets
umask 022

for name in postgres-password owner-password login-password grafana-password; do
  [ -e "$name" ] || openssl rand -hex 24 >"$name"
done
[ -e database-url ] ||
  echo "postgres://quartermaster:$(cat login-password)@postgres:5432/quartermaster" >database-url
[ -e database-owner-url ] ||
  echo "postgres://quartermaster_owner:$(cat owner-password)@postgres:5432/quartermaster" >database-owner-url
[ -e tls.crt ] ||
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 90 -subj "/CN=$domain" \
    -addext "subjectAltName=DNS:$domain,DNS:*.$domain" -keyout tls.key -out tls.crt 2>/dev/null
# openssl writes the key with mode 600; nginx in its container may be another user.
chmod 644 tls.key
