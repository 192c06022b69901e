/** A call as a command for the shell. The key is a variable, and the prompt is not kept. */
import type { CallEntry } from "../../data/types.ts";

interface Dialect {
  path: string;
  body: (model: string, stream: boolean) => object;
}

const CHAT = [{ role: "user", content: "…" }];

const DIALECTS: Readonly<Record<string, Dialect>> = {
  "chat-completions": {
    path: "/v1/chat/completions",
    body: (model, stream) => ({ model, stream, messages: CHAT }),
  },
  messages: {
    path: "/v1/messages",
    body: (model, stream) => ({ model, stream, max_tokens: 1024, messages: CHAT }),
  },
  responses: { path: "/v1/responses", body: (model, stream) => ({ model, stream, input: "…" }) },
  embeddings: { path: "/v1/embeddings", body: (model) => ({ model, input: "…" }) },
};

/** @param gateway where the gateway listens */
export function curlOf({ format, model, stream }: CallEntry, gateway = "http://127.0.0.1:9347"): string {
  const { path, body } = DIALECTS[format] ?? DIALECTS["chat-completions"]!;
  const text = JSON.stringify(body(model, stream)).replaceAll("'", "'\\''");
  return [
    `curl ${stream ? "-N " : ""}${gateway}${path}`,
    `-H "authorization: Bearer $WEIR_API_KEY"`,
    `-H "content-type: application/json"`,
    `-d '${text}'`,
  ].join(" \\\n  ");
}
