#!/bin/sh
# Runs Ollama's SDK for Python against weir and its mock: one line for each promise with the figure seen.
# Needs Python 3.8 or later. With WEIR_TARGET=binary, dist/weir is tested instead of the sources.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/weir-ollama
python="$folder/bin/python"
if [ ! -x "$python" ]; then
  python3 -m venv "$folder"
  "$python" -m pip install --quiet ollama==0.6.3
fi
"$here/../../node_modules/.bin/bun" "$here/ollama.ts" "$python"
