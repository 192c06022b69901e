/** Scripted calls of a running gateway: what clients get, what the log says and what the store keeps, without what passes. */
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chatChunk, messagesText } from "../helpers/event-streams.ts";
import { startGateway } from "../helpers/gateway.ts";
import { askFor, contentOf, STREAM_CLIENTS } from "../helpers/stream-clients.ts";
import { BEHIND_ERROR, readStreamed } from "../helpers/streamed.ts";
import { type Answer, cut, json, sse, startUpstream } from "../helpers/upstream.ts";
import { digest } from "./texts.ts";

const KEY = "key-of-the-frozen-calls";
const WITH_KEY = { authorization: `Bearer ${KEY}` };

/** An answer of a provider of chat-completions, with tokens that it read from its cache. */
export const CHAT = [
  chatChunk({ role: "assistant", content: "Hello, " }),
  chatChunk({ content: "world." }),
  chatChunk({}, "stop"),
  `data: ${JSON.stringify({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [],
    usage: {
      prompt_tokens: 9,
      completion_tokens: 4,
      total_tokens: 13,
      prompt_tokens_details: { cached_tokens: 5 },
    },
  })}\n\n`,
  "data: [DONE]\n\n",
];
const MESSAGES = messagesText("Hello, ", "world.");

/** What the provider does, by the model that is asked for. */
const ANSWERS: Record<string, () => Answer> = {
  "chat/whole": () => sse(CHAT),
  "chat/cut": () => cut(CHAT.slice(0, 2), "fin"),
  "chat/limited": () =>
    json({ error: { message: "Slow down.", type: "rate_limit" } }, 429, { "retry-after": "7" }),
  "messages/whole": () => sse(MESSAGES),
  "messages/cut": () => cut(MESSAGES.slice(0, 3), "fin"),
  "messages/broken": () => json({ type: "error", error: { type: "api_error", message: "Broken." } }, 500),
};

/** Frozen texts of the calls, and of the OpenAPI document of the gateway that served them. */
export interface FrozenCalls {
  /** Status and events, as each client gets them. */
  answers: string;
  /** The lines of the log in JSON. */
  log: string;
  /** The rows of the store. */
  rows: string;
  api: string;
}

/** Runs the calls one after another. */
export async function frozenCalls(): Promise<FrozenCalls> {
  const state = mkdtempSync(join(tmpdir(), "weir-freeze-"));
  const upstream = startUpstream(({ path, body }) => {
    const format = path.endsWith("/messages") ? "messages" : "chat";
    const { model } = JSON.parse(new TextDecoder().decode(body)) as { model: string };
    return ANSWERS[`${format}/${model}`]!();
  });
  const models = ["whole", "cut", "limited", "broken"];
  const gateway = await startGateway({
    target: "source",
    config: {
      state,
      log: { format: "json" },
      retries: { attempts: 1 },
      keys: [{ name: "alice", key: KEY, path: "/team/a" }],
      prices: { "*/*": { input: 1, output: 2, cacheRead: 0.1 } },
      providers: {
        chat: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models },
        messages: { baseUrl: upstream.url, speaks: "messages", models },
      },
    },
  });
  try {
    const answers: string[] = [];
    for (const model of Object.keys(ANSWERS))
      for (const client of STREAM_CLIENTS) {
        const response = await askFor(gateway.url, client, model, "Say hello.", WITH_KEY);
        const { text, ending } = await readStreamed(response, true);
        const isWhole = ending === "clean";
        const content = isWhole && response.ok ? contentOf(client, text) : [text.replace(BEHIND_ERROR, "")];
        answers.push(
          [
            `# ${client.name}, ${model}: ${response.status}`,
            ...content,
            ...(isWhole ? [] : ["(the connection breaks)"]),
          ].join("\n"),
        );
      }
    const document = await (await fetch(`${gateway.url}/openapi.json`, { headers: WITH_KEY })).json();
    await gateway.stop();
    return {
      answers: withoutPassing(answers.join("\n\n")),
      log: gateway.log
        .filter((line) => line.includes('"id":"req_'))
        .map(withoutPassing)
        .join("\n"),
      rows: rowsOf(join(state, "weir.db")),
      api: digest(document as Parameters<typeof digest>[0]),
    };
  } finally {
    await gateway.stop();
    upstream.stop();
    rmSync(state, { recursive: true, force: true });
  }
}

/** Hides times, durations, ids that weir makes, and the stack of an error, which names the folder and the lines of the code. */
function withoutPassing(text: string): string {
  return text
    .replace(/"(time|ms|\w+_ms|retry_after\w*|created\w*)":("[^"]*"|[\d.]+)/g, '"$1":0')
    .replace(/\b(req|resp|msg)_[\w-]{12,}/g, "$1_made")
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:0")
    .replace(/(?:\\n    at [^"\\]*)+/g, "");
}

/** Columns that differ from run to run: they are shown as set or not. */
const PASSING = new Set([
  "number",
  "request",
  "at",
  "ms",
  "head_ms",
  "first_ms",
  "own_us",
  "attempt_ms",
  "call",
]);

/** What a call that broke off is charged depends on how long the provider may have gone on. */
const ESTIMATED = new Set(["output", "cost"]);

/** Columns whose numbers stand for a text. */
const NAMED = new Set([
  "caller",
  "model",
  "format",
  "client",
  "error",
  "finish",
  "target",
  "tier",
  "accounts",
]);

/** The tables with the number of their rows, and the rows of the calls with their texts. */
function rowsOf(path: string): string {
  const db = new Database(path, { readonly: true });
  try {
    const names = db.query<{ id: number; kind: string; text: string }, []>("SELECT * FROM names").all();
    const texts = new Map(names.map(({ id, text }) => [id, text]));
    const calls = db.query<Record<string, unknown>, []>("SELECT * FROM calls ORDER BY number").all();
    const tables = db
      .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .all()
      .map(
        ({ name }) =>
          `${name} ${db.query<{ n: number }, []>(`SELECT count(*) AS n FROM "${name}"`).get()!.n}`,
      );
    return [
      ...tables,
      ...names.map(({ kind, text }) => `name ${kind} ${text}`).sort(),
      ...calls.map((row) => JSON.stringify(shownRow(row, texts))),
    ].join("\n");
  } finally {
    db.close();
  }
}

function shownRow(row: Record<string, unknown>, texts: ReadonlyMap<number, string>): Record<string, unknown> {
  const isCut = String(row["detail"]).includes("partial");
  const shown = (name: string, value: unknown) => {
    if (value === null) return null;
    if (PASSING.has(name) || (isCut && ESTIMATED.has(name))) return "set";
    if (NAMED.has(name)) return texts.get(value as number);
    return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
  };
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, shown(name, value)]));
}
