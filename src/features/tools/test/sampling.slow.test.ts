/** Servers of both eras ask for models, and weir's own answer them: for clients of both eras, and for models that call tools. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { type RunningGateway, startGateway, TARGET } from "../../../../test/helpers/gateway.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { type Heard, type Model, type Said, startModel } from "./loop/model.ts";
import { fake } from "./stdio/place.ts";
import { LegacyClient, ModernClient, textOf } from "./support/clients.ts";
import { type FakeCall, type FakeServer, fakeServer, type FakeTool, text } from "./support/servers.ts";

setDefaultTimeout(60_000);

const keys = { alice: "", bob: "", carol: "", dave: "" };
for (const name of Object.keys(keys) as (keyof typeof keys)[])
  keys[name] = `sk-${name}-who-samples-0123456789`;
const hashed = (key: string) => createHash("sha256").update(key).digest("hex");

const SAMPLING = "sampling/createMessage";
const MOST = 5;
const question = (more: JsonObject = {}): JsonObject => ({
  messages: [{ role: "user", content: { type: "text", text: "Which tea?" } }],
  maxTokens: 77,
  ...more,
});
const PICK = { name: "pick", description: "Picks", inputSchema: { type: "object" } };
const FORM = { message: "Your name?", requestedSchema: { type: "object" } };

/** Asks a model in the way of an era. @returns its answer, or the message of the error */
type Sample = (call: FakeCall, params: JsonObject, key?: string) => Promise<JsonObject | string | undefined>;

/** A modern server ends its answer, and has the model's with the next request. */
class Wanted extends Error {
  readonly wishes: JsonObject;

  constructor(wishes: JsonObject) {
    super("wanted");
    this.wishes = wishes;
  }
}

const legacySample: Sample = async ({ ask }, params) => {
  const { result, error } = await ask(SAMPLING, params);
  return (result as JsonObject | undefined) ?? (error as { message: string }).message;
};

/** What the tool has heard so far, of this client call alone. */
const modernSample: Sample = async ({ params: { inputResponses, requestState } }, params, key = "first") => {
  const heard = JSON.parse(typeof requestState === "string" ? requestState : "{}") as JsonObject;
  const all = { ...heard, ...(isObject(inputResponses) ? inputResponses : {}) } as Record<string, JsonObject>;
  if (all[key]) return all[key];
  throw new Wanted({
    inputRequests: { [key]: { method: SAMPLING, params } },
    requestState: JSON.stringify(all),
  });
};

function toolsOf(sample: Sample): Record<string, FakeTool> {
  const said = async (...args: Parameters<Sample>) => text(JSON.stringify(await sample(...args)));
  return {
    think: (call) => said(call, question(call.args)),
    wrong: (call) => said(call, { messages: [{ role: "system", content: [] }], maxTokens: 5 }),
    // An agent of its own: the model calls a tool of the server, and goes on with its result.
    async agent(call) {
      const first = (await sample(call, question({ tools: [PICK] }))) as JsonObject;
      if (typeof first === "string") return text(first);
      const [use] = (first["content"] as JsonObject[]).filter(({ type }) => type === "tool_use");
      const messages = [
        ...(question()["messages"] as JsonObject[]),
        { role: "assistant", content: first["content"]! },
        {
          role: "user",
          content: [
            { type: "tool_result", toolUseId: use!["id"]!, content: [{ type: "text", text: "oolong" }] },
          ],
        },
      ];
      return said(call, question({ messages, tools: [PICK] }), "second");
    },
    async endless(call) {
      for (let at = 0; ; at++) {
        const heard = await sample(call, question(), `k${at}`);
        if (typeof heard === "string") return text(`after ${at}: ${heard}`);
      }
    },
  };
}

/** A tool that ends its answer when it wants something. */
const ending =
  (tool: FakeTool): FakeTool =>
  async (call) => {
    try {
      return await tool(call);
    } catch (thrown) {
      if (!(thrown instanceof Wanted)) throw thrown;
      return { resultType: "input_required", ...thrown.wishes };
    }
  };

const legacyTools: Record<string, FakeTool> = {
  ...toolsOf(legacySample),
  long: async (call) =>
    text(String(await legacySample(call, question({ systemPrompt: "a".repeat(5_000_000) })))),
  async later({ ask }) {
    const client = ask("elicitation/create", FORM);
    await Bun.sleep(100);
    const model = ask(SAMPLING, question());
    return text(
      JSON.stringify([((await model)["result"] as JsonObject)["content"], (await client)["result"]]),
    );
  },
  async both({ ask }) {
    const [model, client] = await Promise.all([ask(SAMPLING, question()), ask("elicitation/create", FORM)]);
    return text(JSON.stringify([(model["result"] as JsonObject)["content"], client["result"]]));
  },
};

const modernTools: Record<string, FakeTool> = {
  ...Object.fromEntries(Object.entries(toolsOf(modernSample)).map(([name, tool]) => [name, ending(tool)])),
  both({ params: { inputResponses: given } }) {
    if (isObject(given))
      return text(JSON.stringify([(given["model"] as JsonObject)["content"], given["client"]]));
    const inputRequests = {
      model: { method: SAMPLING, params: question() },
      client: { method: "elicitation/create", params: FORM },
    };
    return { resultType: "input_required", inputRequests };
  },
};

function script({ body, tools, results, format }: Heard): Said {
  const own = tools.find((name) => name.endsWith("__think"));
  if (own !== undefined && results.length === 0) return { calls: [{ name: own }] };
  if (tools.includes("pick") && results.length === 0) return { text: "I pick.", calls: [{ name: "pick" }] };
  if (JSON.stringify(body).includes("slowly!")) return { text: "late", wait: 20_000 };
  if (JSON.stringify(body).includes("fail!")) return { status: 500 };
  return { text: results.length > 0 ? `knows ${results.at(-1)}` : `green by ${format}` };
}

/** Ends the calls of `hold`. */
let release = () => {};
const held: FakeTool = () =>
  new Promise((resolve) => (release = after(release, () => resolve(text("held")))));
const after = (first: () => void, then: () => void) => () => {
  first();
  then();
};

let model: Model;
const servers: Record<string, FakeServer> = {};
let gateway: RunningGateway;

beforeAll(async () => {
  model = startModel(script);
  servers["modern"] = fakeServer("modern", modernTools);
  servers["legacy"] = fakeServer("legacy", legacyTools);
  servers["common"] = fakeServer("legacy", { hold: held });
  const allow = ["*"];
  const urls = Object.entries(servers).map(([name, { url }]) => [name, { url, allow }] as const);
  gateway = await startGateway({
    target: TARGET === "source" ? "process" : TARGET,
    config: {
      log: { format: "json" },
      providers: model.providers,
      aliases: { fast: "chat-completions/m" },
      prices: { "*/m": { input: 0, output: 0, request: 1 } },
      budgets: { carol: { on: { key: "carol" }, limit: 1, every: "total", mode: "hard" } },
      keys: [
        { name: "alice", sha256: hashed(keys.alice) },
        { name: "bob", sha256: hashed(keys.bob), models: ["responses/*"] },
        { name: "carol", sha256: hashed(keys.carol) },
        { name: "dave", sha256: hashed(keys.dave), models: ["fast", "chat-completions/*"] },
      ],
      tools: {
        pin: "off",
        servers: {
          ...Object.fromEntries(urls),
          common: { url: servers["common"].url, allow, isolation: "shared" },
          program: { command: fake(), allow },
          quiet: { url: servers["legacy"].url, allow },
        },
        sampling: { model: "fast", allow: ["modern", "legacy", "common", "program"], maxCalls: MOST },
      },
    },
  });
});

afterAll(async () => {
  await gateway?.stop();
  for (const server of [...Object.values(servers), model]) server?.stop();
});

const linesOf = () =>
  gateway.log.flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Record<string, unknown>] : []));

describe.each(["modern", "legacy"])("a %s client", (era) => {
  const open = async (server: string, more: Partial<ConstructorParameters<typeof ModernClient>[0]> = {}) => {
    const options = { url: `${gateway.url}/mcp/${server}`, key: keys.alice, ...more };
    return era === "modern" ? new ModernClient(options) : LegacyClient.open(options);
  };

  describe.each(["modern", "legacy"])("at a %s server", (server) => {
    const think = async (args: JsonObject = {}, more: Parameters<typeof open>[1] = {}) =>
      textOf(await (await open(server, more)).call("think", args));

    test("that cannot sample gets the answer of weir's model, as a call below that of the tool", async () => {
      const before = linesOf().length;
      const picture = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" };
      const sound = { type: "audio", mimeType: "audio/wav", data: "UklGRg==" };
      const messages = [{ role: "user", content: [{ type: "text", text: "Which?" }, picture, sound] }];
      const more = { messages, systemPrompt: "You know tea.", temperature: 0.5, stopSequences: ["END"] };
      const said = JSON.parse(await think(more)) as JsonObject;
      const content = { type: "text", text: "green by chat-completions" };
      expect(said).toEqual({ role: "assistant", content, model: "m", stopReason: "endTurn" });
      const { body } = model.heard.at(-1)!;
      expect(body).toMatchObject({ model: "m", temperature: 0.5, stop: ["END"] });
      expect(body["max_tokens"] ?? body["max_completion_tokens"]).toBe(77);
      const asked = JSON.stringify(body["messages"]);
      for (const part of ["You know tea.", "data:image/png;base64,iVBORw0KGgo=", '"format":"wav"'])
        expect(asked).toContain(part);
      const lines = () => linesOf().slice(before);
      const own = () => lines().find(({ model: name }) => name === `${server}__think`);
      await until(() => own() !== undefined);
      const parent = own();
      const child = lines().find((line) => line["parent"] === parent?.["id"]);
      expect([child, parent]).toMatchObject([
        { key: "alice", format: "call.ask", status: 200, upstream_model: "m" },
        { key: "alice", provider: "mcp", model: `${server}__think`, status: 200 },
      ]);
    });

    test("that can sample itself is not asked: weir answers", async () => {
      const answer = () => expect.unreachable() as never;
      expect(await think({}, { capabilities: { sampling: {} }, answer })).toContain("green by chat");
    });

    test("gets the model that a hint names, if its key may use it", async () => {
      const args = { modelPreferences: { hints: [{ name: "" }, { name: "nothing" }, { name: "Messages" }] } };
      expect(await think(args)).toContain("green by messages");
      expect(await think(args, { key: keys.dave })).toContain("green by chat-completions");
      expect(await think({ modelPreferences: { hints: "wrong" } })).toContain("green by chat-completions");
    });

    test("whose key may not use the model gets an error, and the server learns nothing of the key", async () => {
      const heard = model.heard.length;
      const said = await think({}, { key: keys.bob });
      expect(said).toContain("weir has no answer of a model: the caller may not use the model");
      expect(said).not.toContain("bob");
      expect(model.heard.length).toBe(heard);
    });

    test("learns that a model failed, and what is wrong in the request of the server", async () => {
      const content = { type: "text", text: "fail!" };
      expect(await think({ messages: [{ role: "user", content }] })).toContain(
        "no answer of a model: it failed",
      );
      const wrong = textOf(await (await open(server)).call("wrong"));
      expect(wrong).toContain("params.messages[0].role of sampling/createMessage must be user or assistant");
    });

    test("serves a server that lets the model call tools of its own", async () => {
      const said = textOf(await (await open(server)).call("agent"));
      expect(said).toContain("knows oolong");
      expect(model.heard.at(-1)!.results).toEqual(["oolong"]);
    });

    test("has a limit of answers for one call", async () => {
      const heard = model.heard.length;
      const said = textOf(await (await open(server)).call("endless"));
      expect(said).toContain(`has asked for ${MOST} answers of models in one call`);
      expect(model.heard.length - heard).toBe(MOST);
      expect(await think()).toContain("green");
    });

    test("is asked for the rest of what a server wants", async () => {
      const answer = (method: string) => {
        expect(method).toBe("elicitation/create");
        return { action: "accept", content: { name: "Anna" } };
      };
      const able = { capabilities: { elicitation: { form: {} } }, answer };
      const heard = model.heard.length;
      const said = JSON.parse(textOf(await (await open(server, able)).call("both"))) as JsonObject[];
      expect(said).toEqual([
        { type: "text", text: "green by chat-completions" },
        { action: "accept", content: { name: "Anna" } },
      ]);
      expect(model.heard.length).toBe(heard + 1);
    });
  });

  test("is asked itself by a server that is not allowed", async () => {
    const answer = () => ({ role: "assistant", content: { type: "text", text: "mine" }, model: "own" });
    const own = { capabilities: { sampling: {} }, answer };
    expect(textOf(await (await open("quiet", own)).call("think"))).toContain("mine");
    const heard = model.heard.length;
    const without = await (await open("quiet")).call("think");
    expect(JSON.stringify(without.message)).toContain("sampling");
    expect(model.heard.length).toBe(heard);
  });
});

test("a budget pays one answer, and refuses the next one in words that tell nothing of it", async () => {
  const client = new ModernClient({ url: `${gateway.url}/mcp/legacy`, key: keys.carol });
  expect(textOf(await client.call("think"))).toContain("green");
  const refused = textOf(await client.call("think"));
  expect(refused).toContain("weir has no answer of a model: a budget or limit does not permit it");
  expect(refused).not.toContain("carol");
});

test.each(["modern", "legacy"])("a tool that a model calls asks for another model: %s", async (server) => {
  const asked = {
    model: "chat-completions/m",
    messages: [{ role: "user", content: "Is there tea?" }],
    tools: [{ type: "mcp", server_label: "s", server_url: `weir/${server}`, require_approval: "never" }],
  };
  const got = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${keys.alice}` },
    body: JSON.stringify(asked),
  });
  expect(JSON.stringify(await got.json())).toContain("green by chat-completions");
});

test("a server that asks while the client is away has its answer when it is back", async () => {
  const client = new ModernClient({
    ...{ url: `${gateway.url}/mcp/legacy`, key: keys.alice },
    capabilities: { elicitation: { form: {} } },
  });
  const heard = model.heard.length;
  const asked = { name: "later", arguments: {} };
  const first = (await client.request("tools/call", asked)).message["result"] as JsonObject;
  const [key] = Object.keys(first["inputRequests"] as JsonObject);
  await Bun.sleep(300);
  expect(model.heard.length).toBe(heard);
  const accepted = { action: "accept", content: { name: "Anna" } };
  const again = { ...asked, requestState: first["requestState"]!, inputResponses: { [key!]: accepted } };
  const said = textOf(await client.request("tools/call", again));
  expect(JSON.parse(said)).toEqual([{ type: "text", text: "green by chat-completions" }, accepted]);
  expect(model.heard.length).toBe(heard + 1);
});

test("a program may ask too", async () => {
  const client = new ModernClient({ url: `${gateway.url}/mcp/program`, key: keys.alice });
  const said = textOf(await client.call("ask", { method: SAMPLING, params: question() }));
  expect(said).toContain("green by chat-completions");
});

test("of callers who share a session none pays for what could be another's", async () => {
  const url = `${gateway.url}/mcp/common`;
  const hold = async (key: string) => (await LegacyClient.open({ url, key })).call("hold");
  const server = servers["common"]!;
  const calls = () => server.seen.filter((one) => one === "tools/call hold").length;
  const running = [hold(keys.alice)];
  expect(await until(() => calls() === 1)).toBe(true);
  expect(await server.ask(SAMPLING, question())).toMatchObject({ result: { model: "m" } });
  const heard = model.heard.length;
  running.push(hold(keys.bob));
  expect(await until(() => calls() === 2)).toBe(true);
  expect(await server.ask(SAMPLING, question())).toMatchObject({ error: { code: -32601 } });
  expect(model.heard.length).toBe(heard);
  release();
  expect((await Promise.all(running)).map(textOf)).toEqual(["held", "held"]);
});

test("a request that is too long reaches no model", async () => {
  const heard = model.heard.length;
  const client = new ModernClient({ url: `${gateway.url}/mcp/legacy`, key: keys.alice });
  const said = textOf(
    await client.call("think", { systemPrompt: "a", metadata: { long: "aaaa".repeat(900_000) } }),
  );
  expect(said).toContain("green");
  const long = textOf(await client.call("long"));
  expect(long).toContain("has at most 4194304 characters");
  expect(model.heard.length).toBe(heard + 1);
});

test("a call that ends takes its answers of models with it", async () => {
  const before = linesOf().length;
  const stopping = new AbortController();
  const client = new ModernClient({ url: `${gateway.url}/mcp/legacy`, key: keys.alice });
  const messages = [{ role: "user", content: { type: "text", text: "slowly!" } }];
  const heard = model.heard.length;
  const left = client.call("think", { messages }, { signal: stopping.signal }).catch(() => "left");
  expect(await until(() => model.heard.length > heard)).toBe(true);
  stopping.abort();
  expect(await left).toBe("left");
  const ended = () =>
    linesOf()
      .slice(before)
      .find(({ format }) => format === "call.ask");
  expect(await until(() => ended() !== undefined)).toBe(true);
  expect(ended()!["outcome"]).not.toBe("complete");
});
