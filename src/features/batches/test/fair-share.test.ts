/** 20 batches of five keys at one provider, through a gateway: what each key gets of it. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(240_000);

/** Output tokens that the shortest and the longest lines of each key permit, and its batches. Input is next to nothing. */
const KEYS = [
  { tokens: [4_000, 8_000], batches: 1 },
  { tokens: [30_000, 40_000], batches: 7 },
  { tokens: [5_000, 40_000], batches: 3 },
  { tokens: [10_000, 10_000], batches: 4 },
  { tokens: [6_000, 20_000], batches: 5 },
] as const;
/** Tokens of all keys that are measured. No key has all of its lines run by then. */
const MEASURED = 9_000_000;
const LINES_OF_KEY = 700;

const open = Promise.withResolvers<void>();
let isMeasured = false;
const had = KEYS.map(() => 0);
const sum = () => had.reduce((all, tokens) => all + tokens, 0);

const upstream = startUpstream(async ({ body }) => {
  const { messages, max_tokens: tokens } = JSON.parse(body.toString()) as {
    messages: { content: string }[];
    max_tokens: number;
  };
  if (isMeasured && sum() < MEASURED) had[Number(messages[0]!.content.split(" ")[1])]! += tokens;
  await open.promise;
  await Bun.sleep(10 + Math.random() * 20);
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", content: "So." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
});
const secretOf = (key: number) => `weir-key-of-sharer-number-${key}`;
const gateway = await startGateway({
  target: "source",
  config: {
    providers: {
      p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
    },
    keys: KEYS.map((_, key) => ({ name: `key-${key}`, key: secretOf(key), path: "/eng" })),
    batches: { how: "run", yield: false },
    log: { format: "json" },
  },
});
await gateway.opened();
afterAll(async () => {
  open.resolve();
  await gateway.stop();
  upstream.stop();
});

const clientOf = (key: number) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secretOf(key), maxRetries: 0 });

async function made(key: number, lines: number): Promise<string> {
  const [least, most] = KEYS[key]!.tokens;
  const texts = Array.from({ length: lines }, (_, at) => {
    const max_tokens = least + Math.floor(Math.random() * (most - least + 1));
    const body = { model: "p/m", max_tokens, messages: [{ role: "user", content: `key ${key}` }] };
    return JSON.stringify({ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions", body });
  });
  const client = clientOf(key);
  const file = await client.files.create({
    file: new File([texts.join("\n")], "in.jsonl"),
    purpose: "batch",
  });
  const { id } = await client.batches.create({
    ...{ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  return id;
}

test("shares are within 5 % of fair, although lines differ in size and keys in their number of batches", async () => {
  const all: [key: number, id: string][] = [];
  for (const [key, { batches }] of KEYS.entries())
    for (let batch = 0; batch < batches; batch++)
      all.push([key, await made(key, Math.ceil(LINES_OF_KEY / batches))]);
  expect(all.length).toBe(20);
  const isChecked = async ([key, id]: (typeof all)[number]) =>
    (await clientOf(key).batches.retrieve(id)).status !== "validating";
  for (const one of all) expect(await until(() => isChecked(one), 60_000)).toBe(true);
  isMeasured = true;
  open.resolve();
  expect(await until(() => sum() >= MEASURED, 120_000)).toBe(true);
  const shares = had.map((tokens) => tokens / sum());
  console.log(`shares: ${shares.map((share) => share.toFixed(4)).join(" ")}`);
  for (const share of shares) {
    expect(share).toBeGreaterThan(0.2 * 0.95);
    expect(share).toBeLessThan(0.2 * 1.05);
  }
  // Batches of short ones have ended.
  for (const [key, id] of all)
    await clientOf(key)
      .batches.cancel(id)
      .catch(() => {});
});
