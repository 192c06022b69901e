/**
 * Guesses ids of files, uploads and batches of another key, in all dialects:
 *
 *     bun src/features/batches/test/guess-run.ts [GUESSES]
 *
 * Prints the statuses that were seen, and exits with 1 if one guess finds something. The default is 100,000 guesses.
 */
import { randomBytes, randomInt } from "node:crypto";
import OpenAI from "openai";
import { serve } from "../../../../test/helpers/serving.ts";

const GUESSES = Number(process.argv[2] ?? 100_000);
const CONNECTIONS = 64;
const THINGS = 20;
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const KEYS = {
  ann: "weir-key-of-ann-1234567",
  // Of the same path, and of another one.
  bob: "weir-key-of-bob-1234567",
  eve: "weir-key-of-eve-1234567",
};
const gateway = await serve({
  ...{ workers: 1, env: {} },
  config: JSON.stringify({
    keys: [
      { name: "ann", key: KEYS.ann, path: "/eng" },
      { name: "bob", key: KEYS.bob, path: "/eng" },
      { name: "eve", key: KEYS.eve, path: "/other" },
    ],
    log: { format: "json" },
  }),
});
await using ends = new AsyncDisposableStack();
ends.defer(() => gateway.end());
const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEYS.ann, maxRetries: 0 });

/** Ids of things that ann has, without their form. */
const own: string[] = [];
for (let made = 0; made < THINGS; made++) {
  const body = { model: "mock/echo", messages: [{ role: "user", content: "secret" }] };
  const line = { custom_id: "a", method: "POST", url: "/v1/chat/completions", body };
  const file = await client.files.create({
    ...{ file: new File([JSON.stringify(line)], "in.jsonl"), purpose: "batch" },
  });
  const upload = await client.uploads.create({
    ...{ bytes: 10, filename: "a.bin", mime_type: "text/plain", purpose: "user_data" },
  });
  let batch = await client.batches.create({
    ...{ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  while (batch.status !== "completed") {
    await Bun.sleep(20);
    batch = await client.batches.retrieve(batch.id);
  }
  for (const id of [file.id, upload.id, batch.id, batch.output_file_id!])
    own.push(id.replace(/^[a-z]+[-_]/, ""));
}

const digits = (count: number) => Array.from(randomBytes(count), (byte) => DIGITS[byte % 32]!).join("");
const someOf = <T>(list: readonly T[]): T => list[randomInt(list.length)]!;

/** How a guesser makes an id: from nothing, from a time, from an id that is known, or with the id itself. */
const MAKERS: Readonly<Record<string, () => string>> = {
  random: () => digits(26),
  "time known": () => someOf(own).slice(0, 10) + digits(16),
  "one digit wrong": () => {
    const [id, at] = [someOf(own), randomInt(26)];
    const other = someOf([...DIGITS].filter((digit) => digit !== id[at]));
    return id.slice(0, at) + other + id.slice(at + 1);
  },
  "the id of another key": () => someOf(own),
  "odd spellings": () =>
    someOf([
      (id: string) => id.toUpperCase(),
      (id: string) => `${id}%00`,
      (id: string) => `..%2f${id}`,
      (id: string) => `${id}%20`,
      (id: string) => `%25`,
      (id: string) => `*`,
      (id: string) => `file-file-${id}`,
      (id: string) => `${id}'%20OR%201=1--`,
    ])(someOf(own)),
};

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly google?: true;
  readonly anthropic?: true;
  readonly body?: string;
}

const ASKS: readonly ((id: string) => Asked)[] = [
  (id) => ({ method: "GET", path: `/v1/files/file-${id}` }),
  (id) => ({ method: "GET", path: `/v1/files/file-${id}/content` }),
  (id) => ({ method: "DELETE", path: `/v1/files/file-${id}` }),
  (id) => ({ method: "GET", path: `/v1/files/file_${id}`, anthropic: true }),
  (id) => ({ method: "GET", path: `/v1/files/file_${id}/content`, anthropic: true }),
  (id) => ({ method: "DELETE", path: `/v1/files/file_${id}`, anthropic: true }),
  (id) => ({ method: "GET", path: `/v1beta/files/${id}`, google: true }),
  (id) => ({ method: "GET", path: `/v1beta/files/${id}:download?alt=media`, google: true }),
  (id) => ({ method: "DELETE", path: `/v1beta/files/${id}`, google: true }),
  (id) => ({ method: "POST", path: `/v1/uploads/upload_${id}/complete`, body: '{"part_ids":[]}' }),
  (id) => ({ method: "POST", path: `/v1/uploads/upload_${id}/cancel`, body: "{}" }),
  (id) => ({ method: "GET", path: `/v1/batches/batch_${id}` }),
  (id) => ({ method: "POST", path: `/v1/batches/batch_${id}/cancel` }),
  (id) => ({ method: "GET", path: `/v1/messages/batches/msgbatch_${id}`, anthropic: true }),
  (id) => ({ method: "GET", path: `/v1/messages/batches/msgbatch_${id}/results`, anthropic: true }),
  (id) => ({ method: "POST", path: `/v1/messages/batches/msgbatch_${id}/cancel`, anthropic: true }),
  (id) => ({ method: "DELETE", path: `/v1/messages/batches/msgbatch_${id}`, anthropic: true }),
  (id) => ({ method: "GET", path: `/v1beta/batches/${id}`, google: true }),
  (id) => ({ method: "POST", path: `/v1beta/batches/${id}:cancel`, google: true, body: "{}" }),
  (id) => ({ method: "DELETE", path: `/v1beta/batches/${id}`, google: true }),
  (id) => ({
    ...{ method: "POST", path: "/v1/batches" },
    body: JSON.stringify({
      ...{ input_file_id: `file-${id}`, endpoint: "/v1/chat/completions", completion_window: "24h" },
    }),
  }),
];

/** By the maker and the status. */
const statuses: Record<string, Record<string, number>> = {};
const hits: string[] = [];

function ask({ method, path, google, anthropic, body }: Asked, key: string): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      ...(google ? { "x-goog-api-key": key } : { authorization: `Bearer ${key}` }),
      ...(anthropic && { "anthropic-version": "2023-06-01" }),
    },
    ...(body !== undefined && { body }),
  });
}

async function guess(): Promise<void> {
  const maker = someOf(Object.keys(MAKERS));
  const asked = someOf(ASKS)(MAKERS[maker]!());
  const answer = await ask(asked, someOf([KEYS.bob, KEYS.eve]));
  const text = await answer.text();
  const counts = (statuses[maker] ??= {});
  counts[answer.status] = (counts[answer.status] ?? 0) + 1;
  if (answer.status < 400 || answer.status >= 500 || text.includes("secret"))
    hits.push(`${answer.status} ${asked.method} ${asked.path}: ${text.slice(0, 120)}`);
}

// The paths are right: the owner finds something with each that reads.
for (const make of ASKS) {
  if (make("").method !== "GET") continue;
  const found = await Promise.all(own.map(async (id) => (await ask(make(id), KEYS.ann)).ok));
  if (!found.some(Boolean)) hits.push(`The owner finds nothing at ${make("ID").path}.`);
}
const began = performance.now();
let left = GUESSES;
await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    while (left-- > 0) await guess();
  }),
);
const seconds = ((performance.now() - began) / 1_000).toFixed(1);
console.log(`${GUESSES} guesses in ${seconds} s: ${hits.length} hits`);
for (const [maker, counts] of Object.entries(statuses)) console.log(`  ${maker}: ${JSON.stringify(counts)}`);
for (const hit of hits.slice(0, 20)) console.log(hit);
const whole = (await Promise.all(own.map((id) => statusOf(id)))).every((status) => status === 200);
console.log(`what was guessed at is ${whole ? "unchanged" : "CHANGED"}`);
process.exitCode = hits.length === 0 && whole ? 0 : 1;

/** An id is that of a file, an upload or a batch. */
async function statusOf(id: string): Promise<number> {
  const headers = { authorization: `Bearer ${KEYS.ann}` };
  const found = await Promise.all(
    [`files/${id}`, `batches/${id}`].map((path) => fetch(`${gateway.url}/v1/${path}`, { headers })),
  );
  if (found.some(({ ok }) => ok)) return 200;
  const sent = await fetch(`${gateway.url}/v1/uploads/upload_${id}/cancel`, { method: "POST", headers });
  return sent.status;
}
