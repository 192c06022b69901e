/**
 * The streams of the mock in all client formats, cut behind each of their events: the repeat gets the bytes that an unbroken client
 * gets, and the provider is asked once. A fake provider plays what the mock has said, and waits where the client leaves.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { cutInto } from "../../../../test/helpers/recordings.ts";
import { type Piece, sse, startUpstream, until, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(120_000);

const MODELS = ["chat", "reason", "tools"];
const PARAMETERS = { type: "object", properties: { city: { type: "string" } } };
const TOOL = { name: "get_weather", description: "The weather.", parameters: PARAMETERS };

interface Api {
  path(model: string): string;
  body(model: string, prompt: string): object;
}

const turns = (prompt: string) => [{ role: "user", content: prompt }];

/** How a client of each format asks for a stream. */
const APIS: Record<string, Api> = {
  "chat-completions": {
    path: () => "/v1/chat/completions",
    body: (model, prompt) => ({
      ...{ model, stream: true, messages: turns(prompt) },
      ...(model.endsWith("tools") && { tools: [{ type: "function", function: TOOL }] }),
    }),
  },
  messages: {
    path: () => "/v1/messages",
    body: (model, prompt) => ({
      ...{ model, stream: true, max_tokens: 2000, messages: turns(prompt) },
      ...(model.endsWith("tools") && { tools: [{ name: TOOL.name, input_schema: PARAMETERS }] }),
    }),
  },
  responses: {
    path: () => "/v1/responses",
    body: (model, prompt) => ({
      ...{ model, stream: true, store: false, input: prompt },
      ...(model.endsWith("tools") && { tools: [{ type: "function", ...TOOL, strict: false }] }),
    }),
  },
  gemini: {
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: (model, prompt) => ({
      contents: [{ role: "user", parts: [{ text: prompt }] }],
      ...(model.endsWith("tools") && { tools: [{ functionDeclarations: [TOOL] }] }),
    }),
  },
};

let gateway: RunningGateway;
let upstream: Upstream;
/** The events of the mock, by format and model. */
const said = new Map<string, Uint8Array[]>();
const gates = new Map<string, PromiseWithResolvers<void>>();

/** The provider sends so many events, and the others when the gate is open. */
async function* played(events: Uint8Array[], prompt: string): AsyncGenerator<Piece> {
  const at = Number(/cut at (\d+)/.exec(prompt)![1]);
  for (const event of events.slice(0, at)) yield event;
  await gates.get(prompt)?.promise;
  for (const event of events.slice(at)) yield event;
}

const promptIn = (text: string) => /cut at \d+ of [\w /-]+/.exec(text)![0];

beforeAll(async () => {
  const mock = await startGateway({ config: {} });
  for (const [format, { path, body }] of Object.entries(APIS))
    for (const model of MODELS) {
      const response = await fetch(mock.url + path(`mock/${model}`), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body(`mock/${model}`, "How is the weather?")),
      });
      said.set(`${format}/${model}`, cutInto(new Uint8Array(await response.arrayBuffer()), "event"));
    }
  await mock.stop();
  upstream = startUpstream(({ body }) => {
    const prompt = promptIn(body.toString());
    const [, spoken, model] = /of (\S+) to \S+ (\w+)/.exec(prompt)!;
    return sse(played(said.get(`${spoken}/${model}`)!, prompt));
  });
  const providers = Object.fromEntries(
    Object.keys(APIS).map((format) => {
      const baseUrl = format === "messages" ? upstream.url : `${upstream.url}/v1`;
      return [`p-${format}`, { speaks: format, baseUrl, apiKey: "k-1234567", models: MODELS }];
    }),
  );
  gateway = await startGateway({ config: { providers, paidOnce: { enabled: true } } });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const asked = (prompt: string) =>
  upstream.requests.filter(({ body }) => promptIn(body.toString()) === prompt).length;

function ask(client: string, model: string, prompt: string, signal?: AbortSignal): Promise<Response> {
  const { path, body } = APIS[client]!;
  return fetch(gateway.url + path(model), {
    method: "POST",
    keepalive: false,
    ...(signal && { signal }),
    headers: { "content-type": "application/json", "idempotency-key": prompt },
    body: JSON.stringify(body(model, prompt)),
  });
}

/** Breaks the connection when the provider has sent all that it sends for now. @returns what has come */
async function cutStream(client: string, model: string, prompt: string): Promise<string> {
  const controller = new AbortController();
  let text = "";
  const read = async () => {
    const response = await ask(client, model, prompt, controller.signal);
    for await (const piece of response.body!) text += Buffer.from(piece).toString();
  };
  const reading = read().catch(() => {});
  await until(
    () => asked(prompt) === 1,
    5000,
    () => "the request has not reached the provider",
  );
  await Bun.sleep(4);
  controller.abort();
  await reading;
  return text;
}

/** Ids and times that weir makes for each answer. */
const withoutIds = (text: string) =>
  text.replace(
    /"((?:item_|response_)?id|responseId|created(?:_at)?|completed_at)":(?:"[^"]*"|[\d.]+)/g,
    '"$1":0',
  );

async function cutEverywhere(spoken: string, client: string): Promise<number> {
  let cuts = 0;
  for (const name of MODELS) {
    const model = `p-${spoken}/${name}`;
    const events = said.get(`${spoken}/${name}`)!;
    expect(events.length).toBeGreaterThan(1);
    // Of one length, because weir estimates the tokens of the prompt for some clients.
    const promptOf = (at: number) =>
      `cut at ${String(at).padStart(2, "0")} of ${spoken} to ${client} ${name}`;
    const whole = await (await ask(client, model, promptOf(99))).text();
    expect(whole.length).toBeGreaterThan(50);
    const cutAt = async (at: number) => {
      const prompt = promptOf(at);
      gates.set(prompt, Promise.withResolvers());
      const begun = await cutStream(client, model, prompt);
      const repeating = ask(client, model, prompt);
      // An event may mean nothing in another format: then the response headers come with the next one.
      const hasBegun = await Promise.race([repeating.then(() => true), Bun.sleep(50).then(() => false)]);
      gates.get(prompt)!.resolve();
      const repeat = await repeating;
      const text = await repeat.text();
      expect(withoutIds(text)).toBe(withoutIds(whole));
      expect(text).toStartWith(begun);
      // A repeat without a head by now may reach weir after the gate is open.
      expect(repeat.headers.get("x-weir-paid-once")).toMatch(hasBegun ? /^running$/ : /^(running|finished)$/);
      expect(asked(prompt)).toBe(1);
      cuts++;
    };
    for (let at = 1; at < events.length; at++) await cutAt(at);
  }
  return cuts;
}

for (const format of Object.keys(APIS))
  test(`${format}, passed on as it is: cut behind every event`, async () => {
    console.log(`${format}: ${await cutEverywhere(format, format)} cuts`);
  });

for (const format of ["messages", "responses", "gemini"])
  test(`chat-completions translated to ${format}: cut behind every event`, async () => {
    console.log(`to ${format}: ${await cutEverywhere("chat-completions", format)} cuts`);
  });
