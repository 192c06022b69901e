#!/bin/sh
# Records jobs of real agents with real servers of tools, and replays each without a network, a provider and a server: one line for
# each agent with the figure seen. RUNS (20) says how often, ONLY names one agent. Needs Python 3.10 or later, and `unshare -n`.
# With WEIR_TARGET=binary, dist/weir is tested instead of the sources.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/weir-runs-clients
if ! "$folder/bin/python" -c "import agents, pydantic_ai.mcp" 2>/dev/null; then
  python3 -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet openai-agents==0.24.0 'pydantic-ai-slim[openai,mcp]==2.31.1'
fi
exec "$here/../../node_modules/.bin/bun" "$here/runs/run.ts" "$folder/bin/python" --runs "${RUNS:-20}" --only "${ONLY:-}"
