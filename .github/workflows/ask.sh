#!/bin/sh
# Asks the mock of the gateway at WEIR_URL one question, and fails unless it answers.
set -eu

for _ in $(seq 60); do
  if curl -fsS "$WEIR_URL/health"; then break; fi
  sleep 1
done
answer=$(curl -fsS "$WEIR_URL/v1/chat/completions" -H "content-type: application/json" \
  -d '{"model":"mock/echo","messages":[{"role":"user","content":"It works."}]}')
printf '\n%s\n' "$answer"
case "$answer" in *'"content":"It works."'*) ;; *) exit 1 ;; esac
