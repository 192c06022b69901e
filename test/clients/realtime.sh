#!/bin/sh
# Runs OpenAI's SDK and Agents SDK for JavaScript, in Node.js, on sessions of weir and its mock over TLS: one line for each promise.
# With WEIR_TARGET=binary, dist/weir is tested instead of the sources.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/weir-realtime
if ! [ -d "$folder/node_modules/@openai/agents-realtime" ]; then
  mkdir -p "$folder"
  (cd "$folder" && npm install --silent --no-audit --no-fund @openai/agents-realtime@0.20.0 openai@7.57.0 zod@4 ws@8)
fi
cp "$here/realtime-client.mjs" "$folder/client.mjs"
"$here/../../node_modules/.bin/bun" "$here/realtime.ts" "$folder"
