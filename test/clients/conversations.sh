#!/bin/sh
# Runs the agents' libraries with OpenAIConversationsSession on weir and its mock: one line for each promise with the figure seen.
# Needs Python 3.10 or later, and Node.js 20 or later. With WEIR_TARGET=binary, dist/weir is tested instead of the sources.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/weir-conversations
python="$folder/bin/python"
if ! "$python" -c "import agents" 2>/dev/null; then
  python3 -m venv "$folder"
  "$python" -m pip install --quiet openai-agents==0.24.0
fi
mkdir -p "$folder/js"
test -d "$folder/js/node_modules/@openai/agents" ||
  npm install --silent --no-audit --no-fund --prefix "$folder/js" @openai/agents@0.20.0 zod@4
"$here/../../node_modules/.bin/bun" "$here/conversations.ts" "$python" "$folder/js/package.json"
