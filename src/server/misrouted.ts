/** Errors for unknown routes: the route that the client probably meant, or how to configure a client of a missing endpoint. */
import { GatewayError } from "../core/error.ts";
import { limitText } from "../core/printable.ts";
import type { AllowedMethods } from "./operation.ts";

/** Limit of path and method in an error. Bytes. */
const MAX_QUOTED_BYTES = 200;

const SERVED = "weir generates, completes, embeds, ranks and judges texts";
const APART = "Set the client's provider for this endpoint apart from its chat provider";

/** Endpoints that weir does not serve, and how to configure a client that uses them. */
const UNSUPPORTED: readonly { path: RegExp; what: string }[] = [
  {
    path: /\/v1\/complete$/,
    what: "weir does not serve Anthropic's old text completions. Set the client to messages, POST /v1/messages, or to POST /v1/completions",
  },
  {
    path: /\/infill$/,
    what: "weir does not serve the endpoint of llama.cpp. Ask for the middle of a text with `suffix`, POST /v1/completions",
  },
  {
    path: /\/messages\/batches(\/.*)?$|\/batches(\/.*)?$/,
    what: "weir serves no such operation of batches, or `batches.on` turns them off. Send the requests one by one, or set the client's batch mode off",
  },
  {
    path: /\/images(\/.*)?$/,
    what: "weir makes images at POST /v1/images/generations, /v1/images/edits and /v1/images/variations",
  },
  {
    path: /\/audio(\/.*)?$/,
    what: "weir reads texts aloud at POST /v1/audio/speech, and writes down speech at POST /v1/audio/transcriptions and /v1/audio/translations",
  },
  {
    path: /\/(realtime|videos)(\/.*)?$/,
    what: `${SERVED}. ${APART}`,
  },
  {
    path: /\/(files|corpora|uploads|assistants|threads|vector_stores|fine_tuning|evals|containers|skills|fileSearchStores)(\/.*)?$/,
    what: `${SERVED}, and keeps no such objects of a vendor. ${APART}`,
  },
  {
    path: /\/(rerank|score)$/,
    what: "weir ranks at POST /v1/rerank, POST /v2/rerank and POST /v1/score",
  },
  {
    path: /\/moderations$/,
    what: "weir judges texts at POST /v1/moderations and POST /v1/chat/moderations",
  },
  {
    path: /\/(tokenize|detokenize)$/,
    what: "weir has no tokenizer of a model. To count the tokens of a request, use POST /v1/messages/count_tokens",
  },
  {
    path: /\/chat\/completions\/.+$/,
    what: "weir stores no answers of chat completions. Keep the answer in the client, or use POST /v1/responses, whose answers weir stores",
  },
  {
    path: /\/operations(\/.*)?$/,
    what: "weir runs no operations in the background at Google. Wait for the answer of generateContent",
  },
  {
    path: /^\/api\/(web_search|web_fetch)$/,
    what: "weir does not search the web itself. Use the web search of a provider, or set the client's search apart from its models",
  },
  {
    path: /^\/api\/(pull|push|create|copy|delete|blobs\/.*)$/,
    what: "weir serves the models of its providers and cannot pull, create, copy or delete one; GET /api/tags lists them",
  },
  {
    path: /:(generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents)$/,
    what: "weir serves the Gemini API below /v1beta/models. Set the client's base URL to weir's address without a path",
  },
];

/** Prefixes of a path if the client's base URL is too long or too short. */
const PREFIX = /^(\/(v\d+(beta)?|api|openai|anthropic))*$/;

/** The route that a client meant, if only its base URL or its spelling is wrong. */
export function likelyPath(path: string, paths: Iterable<string>): string | undefined {
  const plain = path
    .toLowerCase()
    .replace(/\/{2,}/g, "/")
    .replace(/\/$/, "");
  let found: string | undefined;
  let longest = 0;
  for (const known of paths) {
    const end = known.replace(/^\/v1(?=\/)/, "");
    if (end === "/" || known === path || !plain.endsWith(end)) continue;
    if (!PREFIX.test(plain.slice(0, -end.length)) || end.length <= longest) continue;
    found = known;
    longest = end.length;
  }
  return found;
}

/** The error for a request that matches no operation. */
export function misrouted(request: Request, path: string, methods: AllowedMethods): GatewayError {
  const method = limitText(request.method, MAX_QUOTED_BYTES);
  const shown = limitText(path, MAX_QUOTED_BYTES);
  const allow = methods.of(path);
  if (allow !== undefined && request.headers.get("upgrade")?.toLowerCase() === "websocket")
    return noWebSocket(shown, allow);
  if (allow !== undefined)
    return new GatewayError("method-not-allowed", `${method} is not allowed on ${shown}; use ${allow}.`, {
      headers: { allow },
    });
  return new GatewayError("not-found", `There is no route ${method} ${shown}${hint(path, methods)}.`, {
    code: "unknown_url",
  });
}

/** The error for a path whose method at the end weir does not serve. @param known methods of the path */
export function unknownMethod(request: Request, path: string, known: readonly string[]): GatewayError {
  const shown = limitText(path, MAX_QUOTED_BYTES);
  return new GatewayError(
    "not-found",
    `There is no route ${request.method} ${shown}; weir serves the methods ${known.join(", ")}.`,
    { code: "unknown_url" },
  );
}

/** Codex then sends its request by HTTP at once. After a 404 or 405 it repeats the upgrade for several seconds. */
function noWebSocket(path: string, allow: string): GatewayError {
  return new GatewayError(
    "invalid-request",
    `weir does not serve WebSockets on ${path}; use HTTP: send the request with ${allow}.`,
    { status: 426, code: "websocket_not_supported", headers: { connection: "close" } },
  );
}

function hint(path: string, methods: AllowedMethods): string {
  const likely = likelyPath(path, methods.paths);
  if (likely)
    return `; did you mean ${likely}? The base URL of OpenAI clients ends in /v1, that of Anthropic clients does not`;
  const unsupported = UNSUPPORTED.find((entry) => entry.path.test(path));
  return unsupported ? `: ${unsupported.what}` : "; see GET /openapi.json";
}
