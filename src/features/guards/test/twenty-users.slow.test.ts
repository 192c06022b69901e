/**
 * Calls of twenty users with a value of its own each, through two workers, and every second one leaves in the middle. No value of one
 * reaches another or the provider, and none is in what weir writes down. `GUARDED_CALLS` says how many calls; default: 2,000.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { textOfFile } from "../prove/files.ts";

setDefaultTimeout(1_800_000);

const CALLS = Number(process.env["GUARDED_CALLS"] ?? 2_000);
const USERS = 20;
const AT_ONCE = 40;

const valueOf = (user: number, n: number) => `user${user}-${n}x@marked.example`;
const VALUE = /user\d+-\d+x@marked\.example/g;
/** What all values have, as files can have it: raw, percent, and in the three ways of base64. */
const MARKS = ["x@marked.example", "x%40marked.example", "x\\u0040marked"].concat(
  [0, 1, 2].map((skip) =>
    Buffer.from(`${"-".repeat(skip)}@marked.example`)
      .toString("base64")
      .slice(skip === 0 ? 0 : 4, -4),
  ),
);

const TOKEN = /PII_EMAIL_[a-z2-7]+(?:_\d+)?/g;
/** Of requests at the provider. */
let leaked = 0;
let asked = 0;

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "a", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

function streamOf(pieces: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      try {
        for (const [at, piece] of pieces.entries()) {
          controller.enqueue(Buffer.from(chunk({ content: piece })));
          if (at % 5 === 4) await Bun.sleep(4);
        }
        controller.enqueue(Buffer.from(`${chunk({}, "stop")}data: [DONE]\n\n`));
        controller.close();
      } catch {
        // weir has left.
      }
    },
  });
}

/** Says the tokens that it got, three characters at a time. */
const upstream = Bun.serve({
  port: 0,
  async fetch(request) {
    const body = await request.text();
    asked++;
    if (MARKS.some((mark) => body.includes(mark))) leaked++;
    const said = `You wrote of ${(body.match(TOKEN) ?? []).join(" and ")}, and of nobody else. `;
    if (!body.includes('"stream":true')) {
      if (asked % 50 === 0)
        return Response.json(
          { error: { message: `no: ${said}`, type: "invalid_request_error" } },
          { status: 400 },
        );
      const choice = { index: 0, message: { role: "assistant", content: said }, finish_reason: "stop" };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      return Response.json({
        id: "a",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [choice],
        usage,
      });
    }
    const pieces = said.match(/.{1,3}/g)!;
    return new Response(streamOf(pieces), { headers: { "content-type": "text/event-stream" } });
  },
});

let books: RunningBooks | undefined;
afterAll(async () => {
  await books?.end();
  await upstream.stop(true);
});

const keyOf = (user: number) => `weir-planted-key-of-user-${user}`;

interface Came {
  /** Values of others. */
  foreign: number;
  own: number;
  whole: number;
}

const PATHS = ["/v1/chat/completions", "/v1/messages", "/v1/responses"];

function bodyOf(path: string, stream: boolean, text: string): object {
  if (path === "/v1/responses") return { model: "p/m", stream, input: text, store: true };
  return { model: "p/m", stream, max_tokens: 50, messages: [{ role: "user", content: text }] };
}

/** The tokens and values that a client reads, with their pieces joined. */
function heard(text: string): string {
  const pieces = [...text.matchAll(/"(?:content|text|delta|message)":"((?:[^"\\]|\\.)*)"/g)].map(
    ([, piece]) => piece,
  );
  return pieces.join("");
}

async function call(n: number, came: Came): Promise<void> {
  const user = n % USERS;
  const path = PATHS[n % PATHS.length]!;
  const stream = n % 4 < 3;
  const value = valueOf(user, n);
  const leaves = n % 2 === 1;
  const controller = new AbortController();
  let text = "";
  if (leaves && n % 3 === 0) setTimeout(() => controller.abort(), n % 20);
  try {
    const response = await fetch(books!.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${keyOf(user)}` },
      body: JSON.stringify(bodyOf(path, stream, `Mail ${value} today; it is ${value}.`)),
      signal: controller.signal,
    });
    const decoder = new TextDecoder();
    for await (const piece of response.body!) {
      text += decoder.decode(piece as Uint8Array, { stream: true });
      if (leaves && n % 3 > 0) controller.abort();
    }
    came.whole++;
  } catch (cause) {
    if (!leaves) throw cause;
  }
  const values: readonly string[] = `${heard(text)} ${text}`.match(VALUE) ?? [];
  came.foreign += values.filter((one) => one !== value).length;
  if (values.includes(value)) came.own++;
}

test(`${CALLS} calls of ${USERS} users`, async () => {
  const keys = Array.from({ length: USERS }, (_, user) => ({
    ...{ name: `user-${user}`, key: keyOf(user), path: `/team-${user % 5}/user-${user}` },
  }));
  books = await startBooks({
    workers: 2,
    config: {
      keys,
      providers: {
        p: {
          speaks: "chat-completions",
          baseUrl: `http://127.0.0.1:${upstream.port}/v1`,
          apiKey: "k-1234567",
          models: ["m"],
        },
      },
      guards: { pii: { find: ["email"], do: "replace" } },
      responses: { store: "on" },
      capture: { share: 0.02 },
      log: { format: "json" },
    },
  });
  const came: Came = { foreign: 0, own: 0, whole: 0 };
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let n = next++; n < CALLS; n = next++) await call(n, came);
    }),
  );
  // Records of calls whose clients have left follow.
  await Bun.sleep(2_000);
  const metrics = await fetch(`${books.admin.url}/metrics`, {
    headers: { authorization: `Bearer ${books.admin.credential}` },
  });
  const metricsText = metrics.text();
  await metricsText;
  books.signal("SIGTERM");
  await books.exited;
  const files = readdirSync(books.state, { recursive: true, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  const written = new Map<string, string>([
    ["metrics", await metricsText],
    ["log", books.log.join("\n")],
  ]);
  for (const { name, parentPath } of files) written.set(name, await textOfFile(join(parentPath, name)));
  const found = [...written]
    .filter(([, text]) => MARKS.some((mark) => text.includes(mark)))
    .map(([name]) => name);
  expect({ found, leaked, foreign: came.foreign }).toEqual({ found: [], leaked: 0, foreign: 0 });
  // The marks could be found: tokens are there.
  expect(written.get("capture.db")).toMatch(TOKEN);
  expect(written.get("metrics")).toContain("weir_guard_verdicts_total");
  expect(came.own).toBeGreaterThan(CALLS / 2);
  expect(asked).toBeGreaterThan(CALLS / 2);
  console.log(
    `${CALLS} calls, ${came.whole} read to the end, ${came.own} had their value; ${asked} requests at the provider, ${files.length} files`,
  );
});
