/** Stored answers over real sockets: continued, retrieved, listed and deleted, for each key apart. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import OpenAI, { APIError } from "openai";
import { chatHost, type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

const KEYS = { a: "key-of-client-a-1234567890", b: "key-of-client-b-1234567890" };

let upstream: Upstream;
let gateway: RunningGateway;
let keyed: RunningGateway;
let openai: OpenAI;

/** The texts of the messages that the last request to the provider had, each with its role. */
const lastMessages = (): string[] =>
  (
    JSON.parse(upstream.requests.at(-1)!.body.toString()) as { messages: { role: string; content: string }[] }
  ).messages.map(({ role, content }) => `${role}: ${content}`);

beforeAll(async () => {
  let count = 0;
  upstream = startUpstream(() =>
    json({
      id: `chatcmpl-${++count}`,
      object: "chat.completion",
      created: 1,
      model: "some-model",
      choices: [
        { index: 0, message: { role: "assistant", content: `answer ${count}` }, finish_reason: "stop" },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    }),
  );
  const config = { ...chatHost(upstream.url), retries: { attempts: 1 } };
  const env = { WEIR_STATE: "none" };
  gateway = await startGateway({ config, env });
  keyed = await startGateway({
    config: { ...config, keys: Object.entries(KEYS).map(([name, key]) => ({ name, key })) },
    env,
  });
  openai = openaiClient(gateway.url);
});

afterAll(async () => {
  await gateway.stop();
  await keyed.stop();
  upstream.stop();
});

const MODEL = "host/some-model";

const get = (url: string, path: string, init: RequestInit = {}) =>
  fetch(`${url}/v1/responses/${path}`, { ...init, headers: { authorization: "Bearer x", ...init.headers } });

interface ErrorBody {
  error: { message: string; code: string | null; param: string | null };
}

describe("an answer that weir stores", () => {
  test("continues with the whole history once, in order, and without earlier instructions", async () => {
    const first = await openai.responses.create({ model: MODEL, input: "one", instructions: "be brief" });
    expect((first as { store?: unknown }).store).toBe(true);
    const second = await openai.responses.create({
      model: MODEL,
      input: [{ role: "user", content: "two" }],
      previous_response_id: first.id,
    });
    expect(second.previous_response_id).toBe(first.id);
    await openai.responses.create({ model: MODEL, input: "three", previous_response_id: second.id });
    expect(lastMessages()).toEqual([
      "user: one",
      `assistant: ${first.output_text}`,
      "user: two",
      `assistant: ${second.output_text}`,
      "user: three",
    ]);
  });

  test("is retrieved as it was answered, JSON or streamed", async () => {
    const whole = await openai.responses.create({ model: MODEL, input: "hi", metadata: { a: "b" } });
    const { output_text: _, ...sent } = whole;
    expect(await (await get(gateway.url, whole.id)).json()).toEqual(JSON.parse(JSON.stringify(sent)));
    const stream = await openai.responses.create({ model: "mock/chat", input: "hi", stream: true });
    let last: OpenAI.Responses.Response | undefined;
    for await (const event of stream) if (event.type === "response.completed") last = event.response;
    expect((last as { store?: unknown }).store).toBe(true);
    expect(await (await get(gateway.url, last!.id)).json()).toEqual(JSON.parse(JSON.stringify(last)));
  });

  test("is gone after its deletion, and the chain behind it too", async () => {
    const first = await openai.responses.create({ model: MODEL, input: "one" });
    const second = await openai.responses.create({
      model: MODEL,
      input: "two",
      previous_response_id: first.id,
    });
    await openai.responses.delete(first.id);
    for (const method of ["GET", "DELETE"]) {
      const answer = await get(gateway.url, first.id, { method });
      expect([answer.status, ((await answer.json()) as ErrorBody).error.code]).toEqual([
        404,
        "response_not_found",
      ]);
    }
    expect((await get(gateway.url, second.id)).status).toBe(200);
    const continued = openai.responses.create({
      model: MODEL,
      input: "three",
      previous_response_id: second.id,
    });
    expect(await continued.catch((error: unknown) => (error as { code: string }).code)).toBe(
      "previous_response_not_found",
    );
  });

  test("lists its input items in pages of both orders, the newest first by default", async () => {
    const input = Array.from({ length: 45 }, (_, index) => ({
      role: "user" as const,
      content: `item ${index}`,
    }));
    const { id } = await openai.responses.create({ model: MODEL, input });
    for (const order of ["asc", "desc", undefined] as const) {
      const texts: unknown[] = [];
      const ids = new Set<string | undefined>();
      for await (const item of openai.responses.inputItems.list(id, { limit: 20, ...(order && { order }) })) {
        texts.push((item as { content: unknown }).content);
        ids.add(item.id);
      }
      const expected = input.map(({ content }) => content);
      expect(texts).toEqual(order === "asc" ? expected : expected.reverse());
      expect(ids.size).toBe(45);
    }
    const page = (await (await get(gateway.url, `${id}/input_items`)).json()) as { data: object[] };
    expect(page.data.length).toBe(20);
  });

  test("cannot be cancelled after it has ended, and an unknown one is not found", async () => {
    const { id } = await openai.responses.create({ model: MODEL, input: "hi" });
    expect((await get(gateway.url, `${id}/cancel`, { method: "POST" })).status).toBe(400);
    expect((await get(gateway.url, "resp_none/cancel", { method: "POST" })).status).toBe(404);
  });

  test("has no events to stream", async () => {
    const { id } = await openai.responses.create({ model: MODEL, input: "hi" });
    const answer = await get(gateway.url, `${id}?stream=true`);
    expect([answer.status, ((await answer.json()) as ErrorBody).error.code]).toEqual([
      400,
      "response_not_streamable",
    ]);
  });

  test("that the client does not want stored is not, and the answer says so", async () => {
    const answer = await openai.responses.create({ model: MODEL, input: "hi", store: false });
    expect((answer as { store?: unknown }).store).toBe(false);
    expect((await get(gateway.url, answer.id)).status).toBe(404);
  });

  test("gives its items to requests that refer to them; unknown items are left out, and reported", async () => {
    const first = await openai.responses.create({ model: MODEL, input: "one" });
    const reference = (id: string) => ({ type: "item_reference" as const, id });
    const input = [
      reference(first.output[0]!.id!),
      reference("rs_unknown"),
      reference("msg_unknown"),
      { role: "user" as const, content: "two" },
    ];
    const { response } = await openai.responses.create({ model: MODEL, input }).withResponse();
    expect(lastMessages()).toEqual([`assistant: ${first.output_text}`, "user: two"]);
    expect(response.headers.get("x-weir-warnings")).toBe("dropped:input[1], dropped:input[2]");
  });
});

test("a warning names an item as the client wrote it, and not by its place behind stored items", async () => {
  const first = await openai.responses.create({ model: MODEL, input: "one" });
  const search = {
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: { type: "search", query: "q" },
  };
  const { response } = await openai.responses
    .create({
      model: MODEL,
      previous_response_id: first.id,
      input: [{ role: "user", content: "two" }, search as never],
    })
    .withResponse();
  const paths = response.headers
    .get("x-weir-warnings")!
    .split(", ")
    .map((loss) => loss.split(":")[1]);
  expect([...new Set(paths)]).toEqual(["input[1]"]);
});

test("a request that only prepares a later one over a WebSocket is refused", async () => {
  const refused = await openai.responses
    .create({ model: MODEL, input: "hi", generate: false } as never)
    .catch((error: unknown) => error);
  const { status, code, param } = refused as APIError;
  expect([status, code, param]).toEqual([400, "unsupported_parameter", "generate"]);
});

test("an answer that is too large to store is answered, and says that it is not stored", async () => {
  const small = await startGateway({
    config: { ...chatHost(upstream.url), responses: { answerBytes: 1024 } },
    env: { WEIR_STATE: "none" },
  });
  try {
    const client = openaiClient(small.url);
    const input = randomBytes(6_000).toString("base64");
    const { data, response } = await client.responses.create({ model: MODEL, input }).withResponse();
    expect((data as { store?: unknown }).store).toBe(false);
    expect(response.headers.get("x-weir-warnings")).toBe("dropped:store");
    const stores: unknown[] = [];
    for await (const event of await client.responses.create({ model: "mock/chat", input, stream: true }))
      if ("response" in event) stores.push((event.response as { store?: unknown }).store);
    expect(stores).toEqual([true, true, false]);
    const { id } = data;
    expect((await get(small.url, id)).status).toBe(404);
  } finally {
    await small.stop();
  }
});

describe("with two keys", () => {
  test("an answer of another key is as unknown as one that does not exist", async () => {
    const own = openaiClient(keyed.url, { apiKey: KEYS.a });
    const { id } = await own.responses.create({ model: MODEL, input: "secret" });
    const items = `${id}/input_items`;
    const authorization = `Bearer ${KEYS.b}`;
    for (const [method, path] of [
      ["GET", id],
      ["DELETE", id],
      ["GET", items],
      ["POST", `${id}/cancel`],
    ] as const) {
      const init = { method, headers: { authorization } };
      const foreign = await get(keyed.url, path, init);
      const unknown = await get(keyed.url, path.replace(id, "resp_none"), init);
      expect(foreign.status).toBe(404);
      expect((await foreign.text()).replaceAll(id, "resp_none")).toBe(await unknown.text());
    }
    const other = openaiClient(keyed.url, { apiKey: KEYS.b });
    const messages = await Promise.all(
      [id, "resp_none"].map((previous) =>
        other.responses
          .create({ model: MODEL, input: "what was it?", previous_response_id: previous })
          .catch((error: unknown) => error as APIError),
      ),
    );
    const [foreign, unknown] = messages as APIError[];
    expect([foreign!.status, foreign!.code, foreign!.param]).toEqual([
      400,
      "previous_response_not_found",
      "previous_response_id",
    ]);
    expect(foreign!.message.replaceAll(id, "resp_none")).toBe(unknown!.message);
    expect((await own.responses.retrieve(id)).id).toBe(id);
  });
});

describe("paths below /v1/responses", () => {
  test("ids of other characters or lengths are 404", async () => {
    for (const id of ["a%2fb", "a.b", "a%20b", "x".repeat(300), "%ff"]) {
      const answer = await get(gateway.url, id);
      expect([id, answer.status, ((await answer.json()) as ErrorBody).error.code]).toEqual([
        id,
        404,
        "response_not_found",
      ]);
    }
  });

  test("unknown paths are 404 in JSON, and GET of the collection is 405", async () => {
    const unknown = await get(gateway.url, "resp_1/other/thing");
    expect([unknown.status, ((await unknown.json()) as ErrorBody).error.code]).toEqual([404, "unknown_url"]);
    const collection = await fetch(`${gateway.url}/v1/responses`);
    expect([collection.status, collection.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

test("without a store, an answer says that it is not stored, with a warning only if the client asked for it", async () => {
  const plain = await startGateway({ config: chatHost(upstream.url) });
  try {
    const client = openaiClient(plain.url);
    for (const store of [undefined, true]) {
      const { data, response } = await client.responses
        .create({ model: MODEL, input: "hi", ...(store && { store }) })
        .withResponse();
      expect((data as { store?: unknown }).store).toBe(false);
      const warnings = response.headers.get("x-weir-warnings") ?? "";
      expect(warnings.includes("dropped:store")).toBe(store === true);
    }
  } finally {
    await plain.stop();
  }
});

test("explain shows how many stored items a request continues with, and who stores its answer", async () => {
  const first = await openai.responses.create({ model: MODEL, input: "one" });
  const response = await fetch(`${gateway.url}/v1/explain?format=responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: MODEL, input: "two", previous_response_id: first.id }),
  });
  const { stored, request } = (await response.json()) as {
    stored: object;
    request: { body: { messages: object[] } };
  };
  expect(stored).toEqual({ added_items: 2, only_at: null, stored_by: "weir" });
  expect(request.body.messages.length).toBe(3);
});
