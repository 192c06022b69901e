#!/bin/sh
# Runs the files of weir in a bucket of moto's server: one line for each promise with the figure seen.
# Needs Python 3.10 or later. With WEIR_TARGET=binary, dist/weir is tested instead of the sources.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/weir-s3
port=18183
python="$folder/bin/python"
if ! "$python" -c "import moto, flask" 2>/dev/null; then
  python3 -m venv "$folder"
  "$python" -m pip install --quiet 'moto[server]==5.2.5'
fi
"$folder/bin/moto_server" -H 127.0.0.1 -p "$port" >"$folder/server.log" 2>&1 &
pid=$!
trap 'kill "$pid"' EXIT
tries=0
until "$python" -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/', timeout=2)" 2>/dev/null; do
  tries=$((tries + 1))
  if [ "$tries" -gt 60 ] || ! kill -0 "$pid" 2>/dev/null; then
    echo "The server did not start; see $folder/server.log." >&2
    exit 1
  fi
  sleep 1
done
"$here/../../node_modules/.bin/bun" "$here/s3.ts" "http://127.0.0.1:$port"
