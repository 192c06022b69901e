#!/bin/sh
# Runs the vendors' SDKs for Python on files and batches of weir and its mock: one line for each promise with the figure seen.
# Needs Python 3.10 or later. With WEIR_TARGET=binary, dist/weir is tested instead of the sources.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/weir-batches
python="$folder/bin/python"
if ! "$python" -c "import openai, anthropic, google.genai" 2>/dev/null; then
  python3 -m venv "$folder"
  "$python" -m pip install --quiet openai==3.57.0 anthropic==2.10.0 google-genai==3.6.1
fi
"$here/../../node_modules/.bin/bun" "$here/batches.ts" "$python"
