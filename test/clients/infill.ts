/** Clients that complete the middle of a text, against a llama.cpp server at the URL: `bun test/clients/infill.ts URL`. */
import type { JsonObject } from "../../src/core/json.ts";
import { startGateway } from "../helpers/gateway.ts";
import { collect, openaiClient } from "../helpers/sdk.ts";

const [llama = "http://127.0.0.1:18183"] = process.argv.slice(2);
const host = { baseUrl: llama, models: ["m"] };
const gateway = await startGateway({
  config: {
    ...{ admin: "off", state: "none" },
    providers: { llama: { ...host, does: { completion: { infill: "/infill" } } } },
  },
});
const client = openaiClient(gateway.url, { maxRetries: 0 });
const prompt = "Once upon a time \ud83d\ude00 \u2028 there was a";
const asked = {
  model: "llama/m",
  prompt,
  suffix: " and they lived happily.",
  max_tokens: 12,
  temperature: 0,
  seed: 1,
};
let failed = 0;

async function check(promise: string, run: () => Promise<[holds: boolean, figure: unknown]>): Promise<void> {
  const [holds, figure] = await run().catch((thrown: unknown): [boolean, unknown] => [false, thrown]);
  failed += Number(!holds);
  console.log(`${holds ? "ok  " : "FAIL"}  ${promise}: ${String(figure)}`);
}

/** What the server itself answers. */
async function direct(): Promise<JsonObject> {
  const { prompt: before, suffix: behind } = asked;
  const body = { input_prefix: before, input_suffix: behind, n_predict: 12, temperature: 0, seed: 1 };
  const response = await fetch(`${llama}/infill`, { method: "POST", body: JSON.stringify(body) });
  return (await response.json()) as JsonObject;
}

async function post(path: string, body: object): Promise<JsonObject> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(gateway.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  return (await response.json()) as JsonObject;
}

const bare = await direct();
const text = String(bare["content"]);
const finish = bare["stop_type"] === "limit" ? "length" : "stop";
await check("OpenAI's SDK gets the text of the server", async () => {
  const { choices } = await client.completions.create(asked);
  return [choices[0]!.text === text && choices[0]!.finish_reason === finish, JSON.stringify(text)];
});
await check("streamed, with counts at its end", async () => {
  const stream = { stream: true as const, stream_options: { include_usage: true } };
  const events = await collect(await client.completions.create({ ...asked, ...stream }));
  const said = events.map(({ choices }) => choices[0]?.text ?? "").join("");
  const { prompt_tokens: read, completion_tokens: written } = events.at(-1)!.usage!;
  return [
    said === text && read === bare["tokens_evaluated"] && written === bare["tokens_predicted"],
    `${read} read, ${written} written`,
  ];
});
await check("Mistral's clients", async () => {
  const { choices } = await post("/v1/fim/completions", { ...asked, seed: undefined, random_seed: 1 });
  const [{ message }] = choices as [{ message: { content: string } }];
  return [message.content === text, JSON.stringify(message.content)];
});
await check("Ollama's clients", async () => {
  const options = { num_predict: 12, temperature: 0, seed: 1 };
  const { response } = await post("/api/generate", { ...asked, stream: false, options });
  return [response === text, JSON.stringify(response)];
});
await check("a client that leaves frees the server", async () => {
  const left = new AbortController();
  const stream = await client.completions.create(
    { ...asked, max_tokens: 1500, stream: true },
    { signal: left.signal },
  );
  for await (const _event of stream) break;
  left.abort();
  const began = performance.now();
  await client.completions.create({ ...asked, max_tokens: 1 });
  const took = performance.now() - began;
  return [took < 5_000, `the next answer after ${took.toFixed(0)} ms`];
});
await gateway.stop();
process.exit(failed > 0 ? 1 : 0);
