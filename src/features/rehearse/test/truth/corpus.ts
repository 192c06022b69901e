/**
 * The calls by which a rehearsal is judged: requests that vendors and clients really got, each to several models, so that many of them
 * are translated. The same seed gives the same calls.
 */
import { captures } from "../../../../../test/helpers/captures.ts";
import {
  type Recording,
  recordings,
  seededRandom,
  vendorsOf,
} from "../../../../../test/helpers/recordings.ts";
import { EMBEDDERS, MODELS, OWN } from "./models.ts";

/** Tokens of the answer, in disjoint counts. */
export interface Tokens {
  input: number;
  cacheRead: number;
  output: number;
}

export interface TruthCall {
  /** Its place in the corpus, which tells it from all others. */
  index: number;
  /** Where the request comes from: `recording 6d7d13cb14aa`, `capture codex-text.jsonl#1`. */
  source: string;
  /** Path and query. */
  path: string;
  model: string;
  headers: Record<string, string>;
  body: string;
  tokens: Tokens;
}

type Body = Record<string, unknown>;

/** A request without its model. */
interface Seen {
  source: string;
  client: Client;
  model: string;
  stream: boolean;
  headers: Record<string, string>;
  body: Body;
}

type Client = "chat" | "messages" | "responses" | "gemini" | "ollama" | "embeddings" | "completions";

/** The path of a client, and the body with the model and whether it streams. */
const WRITE: Readonly<Record<Client, (seen: Seen, model: string, stream: boolean) => [string, Body]>> = {
  chat: (seen, model, stream) => ["/v1/chat/completions", named(seen, model, stream)],
  messages: (seen, model, stream) => ["/v1/messages", named(seen, model, stream)],
  responses: (seen, model, stream) => ["/v1/responses", named(seen, model, stream)],
  ollama: ({ body }, model, stream) => ["/api/chat", { ...body, model, stream }],
  embeddings: ({ body }, model) => ["/v1/embeddings", { ...body, model }],
  completions: (seen, model, stream) => ["/v1/completions", named(seen, model, stream)],
  gemini({ body }, model, stream) {
    const operation = stream ? "streamGenerateContent?alt=sse" : "generateContent";
    const { model: _model, ...rest } = body;
    return [`/v1beta/models/${model}:${operation}`, rest];
  },
};

function named({ body }: Seen, model: string, stream: boolean): Body {
  const { stream: asked, stream_options: options, ...rest } = body;
  if (!stream) return { ...rest, model, ...(asked !== undefined && { stream: false }) };
  return { ...rest, model, stream: true, ...(options !== undefined && { stream_options: options }) };
}

const CLIENTS: Readonly<Record<string, Client>> = {
  chat: "chat",
  messages: "messages",
  responses: "responses",
  gemini: "gemini",
  ollama: "ollama",
  embeddings: "embeddings",
  completions: "completions",
  bedrock_invoke: "messages",
};

function seenIn({ id, api, vendor, model, stream, request }: Recording): Seen[] {
  const body = request?.body;
  const client = CLIENTS[api];
  if (!body || !client || !isOf(client, body)) return [];
  const { anthropic_version: _version, ...rest } = body;
  const own = `${OWN[vendor] ?? vendor}/${String(body["model"] ?? model ?? "some-model")}`;
  return [
    {
      source: `recording ${id}`,
      client,
      model: own,
      stream: stream === true,
      headers: keptOf(Object.entries(request.headers)),
      body: api === "bedrock_invoke" ? rest : body,
    },
  ];
}

/** Members without which a body is none of its client. */
const MEMBER: Readonly<Record<Client, string>> = {
  chat: "messages",
  messages: "messages",
  responses: "input",
  gemini: "contents",
  ollama: "messages",
  embeddings: "input",
  completions: "prompt",
};

const isOf = (client: Client, body: Body) => body[MEMBER[client]] !== undefined;

/** Headers of a client that can reach a provider, and those by which weir finds a conversation. */
function keptOf(headers: readonly (readonly [string, string])[]): Record<string, string> {
  const kept =
    /^(anthropic-|openai-|x-session|session|x-claude|x-stainless-|user-agent|x-app|x-goog-api-client)/;
  return Object.fromEntries(
    headers
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name, value]) => kept.test(name) && typeof value === "string" && value !== "REMOVED"),
  );
}

const CAPTURED: readonly (readonly [string, Client])[] = [
  ["/v1/chat/completions", "chat"],
  ["/v1/messages", "messages"],
  ["/v1/responses", "responses"],
  ["/api/chat", "ollama"],
  ["generateContent", "gemini"],
  ["streamGenerateContent", "gemini"],
];

function captured(): Seen[] {
  return CAPTURED.flatMap(([path, client]) =>
    captures(path, /./).map(({ name, path: whole, headers, body }): Seen => {
      const model = /models\/([^:]+):/.exec(whole)?.[1] ?? String(body["model"]);
      const stream = body["stream"] === true || path === "streamGenerateContent";
      return { source: `capture ${name}`, client, model, stream, headers: keptOf(headers), body };
    }),
  ).filter(({ client, body }) => isOf(client, body));
}

function recorded(): Seen[] {
  return Object.keys(CLIENTS).flatMap((api) =>
    vendorsOf(api).flatMap((vendor) => recordings({ api, vendors: [vendor] }).flatMap(seenIn)),
  );
}

/** Names of the gateway keys in {@link KEYS}, each as often as it is used. */
const CALLERS = [
  "tk-all-0001",
  "tk-all-0001",
  "tk-all-0001",
  "tk-search-0002",
  "tk-short-0003",
  "tk-chat-0004",
];

/** Tokens as real calls have them: some with a cache, some of a few words. */
function tokensOf(random: () => number): Tokens {
  const input = Math.floor(20 + random() * 4_000);
  const cacheRead = random() < 0.3 ? Math.floor(random() * 20_000) : 0;
  return { input, cacheRead, output: Math.floor(5 + random() * 900) };
}

/** The models that a request goes to: its own one, and others that the seed chooses. */
function modelsFor({ client, model }: Seen, count: number, random: () => number): string[] {
  const all = client === "embeddings" ? EMBEDDERS : MODELS;
  const chosen = Array.from({ length: count }, () => all[Math.floor(random() * all.length)]!);
  return [...new Set([model, ...chosen])];
}

/**
 * At most `most` calls, no two alike, in an order that the seed decides, so that a few of them are of all clients.
 * @returns fewer if the material beside the repository has no more
 */
export function corpus(most: number, seed = 1): TruthCall[] {
  const random = seededRandom(seed);
  const all: TruthCall[] = [];
  const known = new Set<bigint>();
  for (const seen of [...captured(), ...recorded()]) {
    for (const [at, model] of modelsFor(seen, 3, random).entries()) {
      const stream = at % 2 === 0 ? seen.stream : !seen.stream;
      const [path, body] = WRITE[seen.client](seen, model, stream);
      const call: Omit<TruthCall, "index"> = {
        source: seen.source,
        path,
        model,
        headers: {
          ...seen.headers,
          authorization: `Bearer ${CALLERS[Math.floor(random() * CALLERS.length)]!}`,
        },
        body: JSON.stringify(body, null, random() < 0.1 ? 2 : 0),
        tokens: tokensOf(random),
      };
      const hash = Bun.hash.wyhash(`${path}\n${call.body}`);
      if (known.has(hash)) continue;
      known.add(hash);
      all.push({ index: 0, ...call });
    }
  }
  return shuffled(all, random)
    .slice(0, most)
    .map((call, index) => ({ ...call, index }));
}

function shuffled<T>(items: T[], random: () => number): T[] {
  for (let at = items.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [items[at], items[other]] = [items[other]!, items[at]!];
  }
  return items;
}
