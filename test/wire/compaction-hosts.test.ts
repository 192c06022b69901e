/** Summaries of conversations and the hosts that get them: a vendor with compactions of its own, one without, another format. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { responsesBody, responsesStream } from "../helpers/responses-events.ts";
import { json, sse, startUpstream, type Upstream, type UpstreamRequest } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const SUMMARY = "The user is Ada, and counts to three.";
const FOREIGN = { type: "compaction", id: "cmp_x", encrypted_content: "gAAAAABvendor" };
const user = (content: string) => ({ type: "message", role: "user", content });

let upstream: Upstream;
let gateway: RunningGateway;

/** `vendor` says that it compacts, at its own address and at another one; `told` is a host of which the config says so. */
const plugin = (url: string) => `import { definePlugin } from "weir";
const provider = (name) => ({ name, models: [name + "/*"], baseUrl: "${url}/" + name, apiKey: "KEY",
  speaks: { responses: "/responses" }, traits: { storesAnswers: true, compacts: true } });
export default definePlugin({ name: "hosts", providers: [provider("vendor"), provider("moved")] });`;

beforeAll(async () => {
  upstream = startUpstream(answerOf);
  const host = (speaks: string, more = {}) => ({ speaks, baseUrl: upstream.url, models: ["m"], ...more });
  gateway = await startGateway({
    plugins: { "hosts.ts": plugin(upstream.url) },
    env: { KEY: "key-of-the-hosts-123456", WEIR_STATE: "none" },
    config: {
      providers: {
        moved: { baseUrl: upstream.url.replace("127.0.0.1", "localhost") },
        third: host("responses"),
        told: host("responses", { traits: { compacts: true } }),
        chat: host("chat-completions"),
      },
      routes: { smart: ["chat/m", { model: "vendor/m", priority: 1 }] },
      retries: { attempts: 2 },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

function answerOf({ path, body }: UpstreamRequest) {
  const { stream, model } = JSON.parse(body.toString()) as { stream?: boolean; model: string };
  if (path.endsWith("/chat/completions")) {
    if (isDown) return json({ error: { message: "Down.", type: "server_error" } }, 529);
    const message = { role: "assistant", content: SUMMARY };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return json({ id: "c1", object: "chat.completion", created: 1, model, choices });
  }
  const answer = { items: [{ type: "message" as const, text: SUMMARY }] };
  return stream ? sse(responsesStream(answer)) : json(responsesBody(answer));
}

let isDown = false;

interface Answer {
  status: number;
  headers: Headers;
  json: { id: string; output: Record<string, unknown>[]; error?: { message: string; param: string } };
}

async function ask(body: object, path = "/v1/responses"): Promise<Answer> {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    headers: response.headers,
    json: (await response.json()) as Answer["json"],
  };
}

/** What the provider got last. */
const sent = () => {
  const { path, body } = upstream.requests.at(-1)!;
  return {
    path,
    text: body.toString(),
    body: JSON.parse(body.toString()) as { input: unknown[]; messages: unknown[] },
  };
};

async function compactedBy(model: string): Promise<Record<string, unknown>> {
  const { json } = await ask({ model, input: [user("I am Ada.")] }, "/v1/responses/compact");
  return json.output.at(-1)!;
}

describe("a summary of weir's", () => {
  test.each(["vendor/m", "third/m", "told/m", "moved/m"])(
    "reaches %s as a message, unchanged beside it",
    async (model) => {
      const item = await compactedBy("chat/m");
      expect(item["encrypted_content"]).toStartWith("weir1.");
      const { status, headers } = await ask({ model, input: [item, user("Who am I?")] });
      expect([status, headers.get("x-weir-lane")]).toEqual([200, "native"]);
      expect(sent().body.input).toEqual([
        {
          type: "message",
          role: "user",
          content: [{ type: "input_text", text: expect.stringContaining(SUMMARY) }],
        },
        user("Who am I?"),
      ]);
      expect(sent().text).not.toContain("weir1.");
    },
  );

  test("reaches the fallback of the provider that made it", async () => {
    const item = await compactedBy("smart");
    isDown = true;
    const { status, headers } = await ask({ model: "smart", input: [item, user("Who am I?")] });
    isDown = false;
    expect([status, headers.get("x-weir-provider")]).toEqual([200, "vendor"]);
    expect(sent().text).toContain(SUMMARY);
    expect(sent().text).not.toContain("weir1.");
  });

  test("reaches a vendor also if the client continues it by its id", async () => {
    const compacted = await ask({
      model: "chat/m",
      input: [user("I am Ada."), { type: "compaction_trigger" }],
    });
    expect(compacted.json.output.map(({ type }) => type)).toEqual(["compaction"]);
    const { status } = await ask({
      ...{ model: "vendor/m", input: "Who am I?", previous_response_id: compacted.json.id },
    });
    expect(status).toBe(200);
    expect(sent().text).toContain(SUMMARY);
    expect(sent().text).not.toMatch(/weir1\.|I am Ada/);
  });

  test("of the route is no answer that can be continued by its id, and weir says so itself", async () => {
    const { json: compacted } = await ask({ model: "chat/m", input: [user("one")] }, "/v1/responses/compact");
    const before = upstream.requests.length;
    const body = { model: "vendor/m", input: "two", previous_response_id: compacted.id };
    const { status, json } = await ask(body);
    expect([status, json.error?.param]).toEqual([400, "previous_response_id"]);
    expect(json.error?.message).toContain("sent as input");
    expect(upstream.requests.length).toBe(before);
  });
});

describe("a compaction that only its vendor can read", () => {
  const input = [FOREIGN, user("Who am I?")];

  test.each(["vendor/m", "told/m"])("passes to %s as it is", async (model) => {
    const { status } = await ask({ model, input });
    expect([status, sent().body.input]).toEqual([200, input]);
  });

  test.each(["chat/m", "third/m", "moved/m"])("is refused for %s, with what to do", async (model) => {
    const before = upstream.requests.length;
    const { status, json } = await ask({ model, input });
    expect([status, json.error?.param]).toEqual([400, "input[0]"]);
    expect(json.error?.message).toMatch(
      /only the vendor that made it.*compact the conversation with the model/,
    );
    expect(upstream.requests.length).toBe(before);
  });

  test("so is one that claims to be of weir and cannot be opened", async () => {
    const broken = { ...FOREIGN, encrypted_content: "weir1.compaction.bm90LWpzb24" };
    for (const model of ["chat/m", "third/m"])
      expect((await ask({ model, input: [broken, user("Who am I?")] })).status).toBe(400);
  });
});

describe("a host that cannot compact", () => {
  const history = [user("I am Ada."), { type: "compaction_trigger" }];

  test.each(["third/m", "moved/m", "chat/m"])("%s writes a summary for weir", async (model) => {
    const { json } = await ask({ model, input: history });
    expect(json.output.map(({ type }) => type)).toEqual(["compaction"]);
    expect(json.output[0]!["encrypted_content"]).toStartWith("weir1.");
    expect(sent().text).not.toContain("compaction_trigger");
    const route = await ask({ model, input: [user("I am Ada.")] }, "/v1/responses/compact");
    expect([route.status, sent().path]).toEqual([200, expect.not.stringContaining("compact")]);
  });

  test.each(["vendor/m", "told/m"])("%s is asked for a compaction of its own", async (model) => {
    await ask({ model, input: history });
    expect(sent().body.input).toEqual(history);
    await ask({ model, input: [user("I am Ada.")] }, "/v1/responses/compact");
    expect(sent().path).toEndWith("/responses/compact");
  });
});
