#!/bin/sh
# Runs the programs of "Tools in front of weir" (src/cli/clients/README.md) against weir and its mock: a line for each.
# Needs Python 3.10 or later. With WEIR_TARGET=binary, dist/weir is tested instead of the sources.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/weir-tools
# CrewAI needs other versions of the same packages.
install() {
  [ -x "$folder/$1/bin/python" ] && return
  python3 -m venv "$folder/$1"
  name=$1
  shift
  "$folder/$name/bin/python" -m pip install --quiet "$@"
}
install tools langchain-anthropic==1.7.7 langchain-openai==1.7.3 llama-index-llms-openai-like==0.8.1 'pydantic-ai-slim[openai]==2.31.1'
install crewai crewai==1.15.30
exec "$here/../../node_modules/.bin/bun" "$here/tools.ts" "$folder/tools/bin/python" "$folder/crewai/bin/python"
