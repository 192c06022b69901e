#!/bin/sh
# Tests the OpenAPI document against the running binary with schemathesis: every check, 100 examples of each operation.
#   run.sh [OPTION OF SCHEMATHESIS ...]
# Needs Python 3.10 or later. SEED chooses the random cases (default 1), WEIR_BINARY a binary that is already built.
# Exits with the status of schemathesis: 0 if it found nothing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=$(mktemp -d)
pid=
stop() {
  if [ -n "$pid" ]; then
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  fi
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

key=a-key-for-the-test-of-the-document
# weir explains requests for the two providers; it never calls them, and nothing listens there.
cat >"$folder/weir.yaml" <<YAML
port: 0
keys: [{ name: test, key: $key }]
log: { format: json }
providers:
  openai: { baseUrl: "http://127.0.0.1:9/v1", apiKey: sk-of-nobody-at-all-1 }
  anthropic: { baseUrl: "http://127.0.0.1:9", apiKey: sk-of-nobody-at-all-2 }
YAML
(cd "$folder" && exec "$binary" serve >"$folder/weir.log" 2>&1) &
pid=$!
url=
tries=0
while [ -z "$url" ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt 100 ] || ! kill -0 "$pid" 2>/dev/null; then
    echo "weir did not start:" >&2
    cat "$folder/weir.log" >&2
    exit 1
  fi
  sleep 0.1
  url=$(sed -n 's|^weir is listening on \(http://[^ ]*\).*|\1|p' "$folder/weir.log" | head -n 1)
done

cp "$here/hooks.py" "$here/schemathesis.toml" "$folder"
cd "$folder"
# Without a filter, schemathesis leaves out the operation that serves the document. It tests calls without a key by removing
# the headers whose names it knows in this spelling.
venv/bin/schemathesis --config-file schemathesis.toml run "$url/openapi.json" \
  --checks all --max-examples 100 --include-path-regex . --seed "${SEED:-1}" --no-color \
  -H "Authorization: Bearer $key" -H "x-api-key: $key" "$@"
