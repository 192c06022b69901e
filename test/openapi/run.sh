#!/bin/sh
# Tests the OpenAPI document against the running binary with schemathesis: every check, 100 examples of each operation.
#   run.sh [OPTION OF SCHEMATHESIS ...]
# Needs Python 3.10 or later. SEED chooses the random cases (default 1), WEIR_BINARY a binary that is already built.
# Exits with the status of schemathesis: 0 if it found nothing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=$(mktemp -d)
pids=
stop() {
  for pid in $pids; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 1' INT TERM

binary=${WEIR_BINARY:-}
if [ -z "$binary" ]; then
  (cd "$root" && npx -y bun@1.4.5 run build)
  binary=$root/dist/weir
fi

python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check schemathesis==4.32.5

# Starts weir in the folder $1, which holds its config, and sets $url.
start() {
  (cd "$1" && exec "$binary" serve >"$1/weir.log" 2>&1) &
  pids="$pids $!"
  url=
  tries=0
  while [ -z "$url" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ] || ! kill -0 "$!" 2>/dev/null; then
      echo "weir did not start:" >&2
      cat "$1/weir.log" >&2
      exit 1
    fi
    sleep 0.1
    url=$(sed -n 's|^weir is listening on \(http://[^ ]*\).*|\1|p' "$1/weir.log" | head -n 1)
  done
}

# A second weir with the mock is the host of two providers, one for each format: so all lanes are tested.
mkdir "$folder/host" "$folder/weir"
echo "port: 0" >"$folder/host/weir.yaml"
start "$folder/host"
host=$url
key=a-key-for-the-test-of-the-document
cat >"$folder/weir/weir.yaml" <<YAML
port: 0
keys: [{ name: test, key: $key }]
providers:
  chat-host: { baseUrl: "$host/v1", apiKey: any-key-for-the-mock, speaks: chat-completions }
  messages-host: { baseUrl: "$host", apiKey: any-key-for-the-mock, speaks: messages }
YAML
start "$folder/weir"

cp "$here/hooks.py" "$here/schemathesis.toml" "$folder"
cd "$folder"
# Without a filter, schemathesis leaves out the operation that serves the document. It tests calls without a key by removing
# the headers whose names it knows in this spelling.
venv/bin/schemathesis --config-file schemathesis.toml run "$url/openapi.json" \
  --checks all --max-examples 100 --include-path-regex . --seed "${SEED:-1}" --no-color \
  -H "Authorization: Bearer $key" -H "x-api-key: $key" "$@"
