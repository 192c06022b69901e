#!/bin/sh
# Runs clients of rerankers, moderations and completions against weir and fakes of their hosts: one line for each promise.
# Needs Python 3.10 or later and npm; installs 1.5 GB. With WEIR_TARGET=binary, dist/weir is tested instead of the sources.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/weir-kinds

environment() {
  name=$1
  shift
  if [ ! -e "$folder/$name/whole" ]; then
    python3 -m venv "$folder/$name"
    "$folder/$name/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    touch "$folder/$name/whole"
  fi
}

mkdir -p "$folder"
environment py cohere==7.3.1 voyageai==0.5.0 llm==0.36 litellm==1.110.2 pillow==13.0.0
environment ev 'lm-eval[api]==0.4.13'
environment lc langchain-cohere==0.6.0 llama-index-postprocessor-cohere-rerank==0.10.0 \
  llama-index-postprocessor-voyageai-rerank==0.6.0 llama-index-postprocessor-tei-rerank==0.6.0

# Of Open WebUI, the class that asks an external reranker, and what asks for speech and images: the package needs 3 GB of others.
if [ ! -e "$folder/open_webui/routers/images.py" ]; then
  "$folder/py/bin/python" -m pip download --quiet --no-deps --dest "$folder/wheel" open-webui==0.12.4
  for module in retrieval/models/external retrieval/models/base_reranker routers/audio/__init__ routers/images; do
    unzip -oq "$folder"/wheel/open_webui-*.whl "open_webui/$module.py" -d "$folder"
  done
  rm -r "$folder/wheel"
fi

if [ ! -e "$folder/npm/whole" ]; then
  npm install --silent --prefix "$folder/npm" --no-audit --no-fund --ignore-scripts \
    @continuedev/openai-adapters@1.37.0 @mistralai/mistralai@2.7.0
  touch "$folder/npm/whole"
fi
"$here/../../node_modules/.bin/bun" "$here/kinds/run.ts" "$folder" "$@"
