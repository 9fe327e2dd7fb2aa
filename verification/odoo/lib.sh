# Common settings of all scripts here; sourced, not run. Everything lives below $RUN (default: ./run beside the scripts).
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export RUN=${ODOO_RUN:-/var/tmp/quartermaster-odoo} DB=${DB:-odoo}
mkdir -p "$RUN" && RUN=$(cd "$RUN" && pwd)
export ROOT=$RUN/root                                     # the chroot (Debian trixie + odoo-19 of sid)
PGBIN=${PGBIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)}
PGUSER_OS=${PGUSER_OS:-postgres}                          # PostgreSQL refuses root: an ordinary user of the machine
die() { echo "$*" >&2; exit 1; }
freeport() { python3 -c 'import socket;s=socket.socket();s.bind(("127.0.0.1",0));print(s.getsockname()[1])'; }
asuser() { local u=$1; shift; setpriv --reuid="$u" --regid="$(id -g "$u")" --clear-groups env HOME=/tmp PATH="$PGBIN:$PATH" "$@"; }
# Runs a command as the chroot's own user `odoo` (never root).
inroot() { local u g; u=$(chroot "$ROOT" id -u odoo); g=$(chroot "$ROOT" id -g odoo); $EX chroot --userspec="$u:$g" "$ROOT" env HOME=/var/lib/odoo LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 "$@"; }
alive() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }
# psql into the Odoo database (superuser of this test cluster only).
sql() { PGPASSWORD=$(cat "$RUN/pg.pass") "$PGBIN/psql" -X -q -h 127.0.0.1 -p "$(cat "$RUN/pg.port")" -U odoo -d "${SQLDB:-$DB}" -v ON_ERROR_STOP=1 "$@"; }
# Runs python on stdin inside `odoo shell` (env is the superuser environment; call env.cr.commit()).
oshell() { inroot odoo shell -c /etc/odoo/run.conf -d "$DB" --no-http --workers=0 --log-level=warn --shell-interface=python "$@" 2>"$RUN/shell.err"; }
