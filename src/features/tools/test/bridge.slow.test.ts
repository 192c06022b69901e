/** Clients of both eras at servers of both eras through a gateway, in all four pairs. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { type RunningGateway, startGateway, TARGET } from "../../../../test/helpers/gateway.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { LegacyClient, messagesOf, ModernClient, textOf } from "./support/clients.ts";
import { type OldServer, oldServer } from "./support/old-server.ts";
import { definition, type FakeServer, fakeServer, type FakeTool, text } from "./support/servers.ts";

setDefaultTimeout(60_000);

const ALICE = "sk-alice-of-the-tools-0123456789";
const BOB = "sk-bob-of-the-tools-0123456789ab";

const hasAnswer = (params: JsonObject) => isObject(params["inputResponses"]);

const tools: Record<string, FakeTool> = {
  echo: ({ args }) => text(JSON.stringify(args)),
  __odd__name: () => text("odd"),
  progress({ params, notify }) {
    const token = (params["_meta"] as JsonObject)["progressToken"]!;
    for (const progress of [1, 2, 1, 3])
      notify("notifications/progress", { progressToken: token, progress, total: 3 });
    return text("done");
  },
  fails: () => ({ ...text("no luck"), isError: true }),
  cut: () => undefined,
  slow: ({ stop }) => new Promise((resolve) => stop.addEventListener("abort", () => resolve(text("late")))),
};

const WISH = {
  method: "elicitation/create",
  params: { message: "Your name?", requestedSchema: { type: "object" } },
};
/** Who the client says it is, or why it does not. */
const nameIn = (answer: unknown) => (answer as { content?: { name: string } } | undefined)?.content?.name;

/** Asks for a name, in the way of each era. */
const modernTools: Record<string, FakeTool> = {
  ...tools,
  greet({ params }) {
    if (!hasAnswer(params))
      return {
        resultType: "input_required",
        inputRequests: { who: WISH },
        requestState: "state of the server",
      };
    if (params["requestState"] !== "state of the server") return text("wrong state");
    return text(`Hello, ${nameIn((params["inputResponses"] as JsonObject)["who"])}`);
  },
};
const legacyTools: Record<string, FakeTool> = {
  ...tools,
  async greet({ ask }) {
    const { result, error } = await ask(WISH.method, WISH.params);
    return error
      ? { ...text((error as { message: string }).message), isError: true }
      : text(`Hello, ${nameIn(result)}`);
  },
};

const servers: Record<string, FakeServer> = {};
let old: OldServer;
let gateway: RunningGateway;

beforeAll(async () => {
  old = oldServer();
  const resources = [{ uri: "ui://same", name: "one" }];
  servers["modern"] = fakeServer("modern", modernTools, { resources });
  servers["legacy"] = fakeServer("legacy", legacyTools, {
    resources: [...resources, { uri: "file:///only", name: "two" }],
  });
  servers["many"] = fakeServer("modern", {});
  servers["many"].tools = Array.from({ length: 1_200 }, (_, at) => definition(`tool-${at}`));
  servers["many"].page = 100;
  const hashed = (key: string) => createHash("sha256").update(key).digest("hex");
  const allow = ["*"];
  gateway = await startGateway({
    target: TARGET === "source" ? "process" : TARGET,
    config: {
      log: { format: "json" },
      keys: [
        { name: "alice", sha256: hashed(ALICE), path: "/eng" },
        { name: "bob", sha256: hashed(BOB), path: "/ops", tools: ["modern__*", "!modern__fails"] },
      ],
      tools: {
        pin: "off",
        prices: { modern__echo: 0.25 },
        servers: {
          modern: { url: servers["modern"].url, allow },
          legacy: { url: servers["legacy"].url, allow, auth: { bearer: "upstream-token" } },
          many: { url: servers["many"].url, allow: ["/eng/many"] },
          old: { url: old.url, allow: ["/eng/old", "alice"] },
          gone: { url: "http://127.0.0.1:9/mcp", allow: ["/gone"] },
          private: { url: servers["modern"].url, allow: ["/eng"] },
        },
      },
    },
  });
});

afterAll(async () => {
  await gateway?.stop();
  for (const server of [...Object.values(servers), old]) server?.stop();
});

const at = (server = "") => `${gateway.url}/mcp${server === "" ? "" : `/${server}`}`;
const answer = () => ({ action: "accept", content: { name: "Anna" } });
const able = { elicitation: { form: {} } };

describe.each(["modern", "legacy"])("a %s client", (client) => {
  const open = async (server: string, more: Partial<ConstructorParameters<typeof ModernClient>[0]> = {}) => {
    const options = { url: at(server), key: ALICE, capabilities: able, answer, ...more };
    return client === "modern" ? new ModernClient(options) : LegacyClient.open(options);
  };

  test.each(["modern", "legacy"])("lists, calls and fails at a %s server", async (server) => {
    const one = await open(server);
    const list = (await one.request("tools/list")).message["result"] as JsonObject;
    expect((list["tools"] as JsonObject[]).map(({ name }) => name)).toEqual(
      servers[server]!.tools.map(({ name }) => name),
    );
    expect("ttlMs" in list).toBe(client === "modern");
    expect(textOf(await one.call("echo", { a: 1, big: 12345678901234567 }))).toContain('"a":1');
    const failed = await one.call("fails");
    expect(failed.message["result"]).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "no luck" }],
    });
    expect(textOf(await one.call("missing"))).toContain("no such tool");
    expect(textOf(await one.call("__odd__name"))).toBe("odd");
  });

  test.each(["modern", "legacy"])("is asked by a %s server", async (server) => {
    expect(textOf(await (await open(server)).call("greet"))).toBe("Hello, Anna");
  });

  // A modern server refuses a modern client itself.
  const others = client === "modern" ? ["legacy"] : ["modern", "legacy"];
  test.each(others)("without the capability is told by a %s server", async (server) => {
    const one = await open(server, { capabilities: {} });
    const got = await one.call("greet").catch((cause: unknown) => ({ cause }));
    expect(JSON.stringify(got)).toContain("elicitation");
  });

  test.each(["modern", "legacy"])(
    "hears of progress of a %s server, which never goes back",
    async (server) => {
      const heard: unknown[] = [];
      const one = await open(server, {
        notified: (_, params) => heard.push([params["progressToken"], params["progress"]]),
      });
      const meta = { progressToken: "mine" };
      const got = await (one instanceof ModernClient
        ? one.call("progress", {}, { meta })
        : one.call("progress", {}, meta));
      expect(textOf(got)).toBe("done");
      expect(heard).toEqual([
        ["mine", 1],
        ["mine", 2],
        ["mine", 3],
      ]);
    },
  );

  test.each(["modern", "legacy"])("learns that a %s server ended before the result, once", async (server) => {
    const before = servers[server]!.seen.filter((one) => one === "tools/call cut").length;
    const got = await (await open(server)).call("cut");
    expect(got.message["error"]).toMatchObject({ code: 1004, data: { server } });
    expect(servers[server]!.seen.filter((one) => one === "tools/call cut").length).toBe(before + 1);
  });

  test.each(["modern", "legacy"])("cancels at a %s server", async (server) => {
    const fake = servers[server]!;
    const before = fake.cancelled.length;
    const one = await open(server);
    if (one instanceof ModernClient) {
      const stopping = new AbortController();
      const sent = one
        .send("tools/call", { name: "slow", arguments: {} }, { signal: stopping.signal })
        .catch(() => {});
      await until(() => fake.seen.at(-1) === "tools/call slow");
      stopping.abort();
      await sent;
    } else {
      const { id, response } = one.start("tools/call", { name: "slow", arguments: {} });
      await until(() => fake.seen.at(-1) === "tools/call slow");
      await one.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
      const messages = [];
      for await (const message of messagesOf(await response)) messages.push(message);
      expect(messages).toEqual([]);
    }
    expect(await until(() => fake.cancelled.length > before)).toBe(true);
  });

  test("reaches a server of the transport before", async () => {
    const one = await open("old");
    const { tools: listed } = (await one.request("tools/list")).message["result"] as { tools: JsonObject[] };
    expect(listed.map(({ name }) => name)).toEqual(["echo", "ask"]);
    expect(textOf(await one.call("echo", { a: 1 }))).toBe('{"a":1}');
    expect(textOf(await one.call("ask"))).toContain("Anna");
    old.cut();
    await until(() => false, 3);
    expect(textOf(await one.call("echo", { b: 2 }))).toBe('{"b":2}');
  });

  test("sees all servers that allow it at /mcp, in the same bytes each time", async () => {
    const one = await open("");
    const first = JSON.stringify((await one.request("tools/list")).message["result"]);
    const names = (JSON.parse(first) as { tools: { name: string }[] }).tools.map(({ name }) => name);
    expect(names).toContain("modern__echo");
    expect(names).toContain("legacy____odd__name");
    expect(names).toContain("private__echo");
    expect(names.some((name) => name.startsWith("many__"))).toBe(false);
    for (let times = 0; times < 20; times++)
      expect(JSON.stringify((await one.request("tools/list")).message["result"])).toBe(first);
    expect(textOf(await one.call("legacy__echo", { b: 2 }))).toBe('{"b":2}');
    expect(textOf(await one.call("legacy____odd__name"))).toBe("odd");
    expect(textOf(await one.call("nowhere__echo"))).toBe("error Unknown tool: nowhere__echo");
  });

  test("reads a resource by its URI, or with its server in front where two have it", async () => {
    const one = await open("");
    const read = async (uri: string) => (await one.request("resources/read", { uri })).message;
    expect((await read("file:///only"))["result"]).toMatchObject({ contents: [{ text: "of legacy" }] });
    expect((await read("ui://same"))["error"]).toMatchObject({
      message: expect.stringContaining("modern+ui://same"),
    });
    expect((await read("modern+ui://same"))["result"]).toMatchObject({
      contents: [{ uri: "ui://same", text: "of modern" }],
    });
  });

  test("may use what its key may, and no word tells that there is more", async () => {
    const one = await open("", { key: BOB });
    const { tools: listed } = (await one.request("tools/list")).message["result"] as {
      tools: { name: string }[];
    };
    expect(listed.map(({ name }) => name)).toEqual(
      Object.keys(modernTools)
        .filter((name) => name !== "fails")
        .map((name) => `modern__${name}`),
    );
    const before = servers["modern"]!.seen.length;
    expect(textOf(await one.call("modern__fails"))).toBe("error Unknown tool: modern__fails");
    expect(textOf(await one.call("modern__nothing"))).toBe("error Unknown tool: modern__nothing");
    expect(servers["modern"]!.seen.slice(before).filter((seen) => seen.startsWith("tools/call"))).toEqual([]);
    const hidden = await fetch(at("private"), {
      method: "POST",
      headers: { authorization: `Bearer ${BOB}` },
      body: "{}",
    });
    const missing = await fetch(at("nothing"), {
      method: "POST",
      headers: { authorization: `Bearer ${BOB}` },
      body: "{}",
    });
    expect([hidden.status, (await hidden.text()).replace("private", "X")]).toEqual([
      404,
      (await missing.text()).replace("nothing", "X"),
    ]);
  });
});

test("a legacy server that forgets its session gets each call once more, and runs it once", async () => {
  const client = await LegacyClient.open({ url: at("legacy"), key: ALICE });
  expect(textOf(await client.call("echo", { n: 0 }))).toBe('{"n":0}');
  for (let n = 1; n <= 20; n++) {
    servers["legacy"]!.sessions.clear();
    const before = servers["legacy"]!.seen.filter((one) => one === "tools/call echo").length;
    expect(textOf(await client.call("echo", { n }))).toBe(`{"n":${n}}`);
    expect(servers["legacy"]!.seen.filter((one) => one === "tools/call echo").length).toBe(before + 1);
  }
});

test("the server gets weir's credential, and never the key of the client", async () => {
  await (await LegacyClient.open({ url: at("legacy"), key: ALICE })).call("echo");
  expect(servers["legacy"]!.headers.get("authorization")).toBe("Bearer upstream-token");
  await new ModernClient({ url: at("modern"), key: ALICE }).call("echo");
  expect(JSON.stringify([...servers["modern"]!.headers])).not.toContain(ALICE);
});

test("a session belongs to one key and one endpoint", async () => {
  const own = await LegacyClient.open({ url: at("modern"), key: ALICE });
  for (const [key, endpoint] of [
    [BOB, "modern"],
    [ALICE, "legacy"],
  ] as const) {
    const headers = {
      authorization: `Bearer ${key}`,
      "mcp-session-id": own.session,
      "mcp-protocol-version": "2025-11-25",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const statuses = await Promise.all([
      fetch(at(endpoint), { method: "POST", headers, body }),
      fetch(at(endpoint), { headers }),
      fetch(at(endpoint), { method: "DELETE", headers }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404]);
  }
  expect((await own.request("ping")).status).toBe(200);
  const ended = await fetch(at("modern"), { method: "DELETE", headers: own.headers() });
  expect(ended.status).toBe(204);
  expect((await own.request("ping")).status).toBe(404);
});

test("a wrong credential reaches no server, whatever the method", async () => {
  const before = [servers["modern"]!.bytes, servers["legacy"]!.bytes];
  for (const method of ["POST", "GET", "DELETE"])
    for (const endpoint of ["", "modern", "legacy"]) {
      const headers: Record<string, string> = { authorization: "Bearer fabricated", "mcp-session-id": "x" };
      const got = await fetch(at(endpoint), { method, headers, ...(method === "POST" && { body: "{}" }) });
      expect([method, got.status, got.headers.get("www-authenticate")]).toEqual([
        method,
        401,
        'Bearer realm="weir"',
      ]);
    }
  expect([servers["modern"]!.bytes, servers["legacy"]!.bytes]).toEqual(before);
});

test("pages of other origins are refused, and other hosts", async () => {
  const authorization = `Bearer ${ALICE}`;
  for (const origin of ["https://evil.example", "null", "http://127.0.0.1.evil.example", "file://"]) {
    const got = await fetch(at("modern"), { method: "POST", headers: { authorization, origin }, body: "{}" });
    expect([origin, got.status]).toEqual([origin, 403]);
  }
  const local = await fetch(at("modern"), {
    method: "GET",
    headers: { authorization, origin: "http://localhost:1234" },
  });
  expect(local.status).toBe(405);
});

test("a sealed state is for one caller, tool and argument, and every changed byte is found", async () => {
  const client = new ModernClient({ url: at("modern"), key: ALICE, capabilities: able });
  const asked = (await client.request("tools/call", { name: "greet", arguments: {} })).message[
    "result"
  ] as JsonObject;
  const requestState = asked["requestState"] as string;
  expect(requestState).not.toContain("state of the server");
  const inputResponses = { who: answer() };
  const again = (params: JsonObject, key = ALICE) =>
    new ModernClient({ url: at("modern"), key, capabilities: able }).request("tools/call", params);
  const whole = { name: "greet", arguments: {}, inputResponses, requestState };
  for (const wrong of [
    { ...whole, arguments: { other: 1 } },
    { ...whole, name: "echo" },
    { ...whole, requestState: requestState.slice(0, -1) },
    { ...whole, requestState: 7 },
  ])
    expect((await again(wrong as JsonObject)).status).toBe(400);
  expect((await again(whole, BOB)).status).toBe(400);
  for (let place = 0; place < requestState.length; place++) {
    const letter = requestState[place] === "A" ? "B" : "A";
    const flipped = requestState.slice(0, place) + letter + requestState.slice(place + 1);
    expect((await again({ ...whole, requestState: flipped })).status).toBe(400);
  }
  expect(textOf(await again(whole))).toBe("Hello, Anna");
});

test("a call that waits for its client is limited, and is gone once it was answered", async () => {
  const client = () => new ModernClient({ url: at("legacy"), key: ALICE, capabilities: able });
  const park = async () => (await client().request("tools/call", { name: "greet", arguments: {} })).message;
  const parked = await Promise.all(Array.from({ length: 16 }, park));
  const states = parked.map((one) => (one["result"] as JsonObject)["requestState"] as string);
  expect((await park())["error"]).toMatchObject({ code: 1001, data: { code: "too_many_waiting_calls" } });
  const questions = (parked[0]!["result"] as JsonObject)["inputRequests"] as JsonObject;
  const key = Object.keys(questions)[0]!;
  const finish = (requestState: string) =>
    client().request("tools/call", {
      name: "greet",
      arguments: {},
      requestState,
      inputResponses: { [key]: answer() },
    });
  for (const state of states) expect(textOf(await finish(state))).toBe("Hello, Anna");
  expect((await finish(states[0]!)).message["error"]).toMatchObject({
    message: expect.stringContaining("the waiting call ended"),
  });
});

test("messages that are none are refused in the words of their era", async () => {
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const sent = { "content-type": "application/json", authorization: `Bearer ${ALICE}`, ...headers };
    const got = await fetch(at("modern"), { method: "POST", headers: sent, body });
    const message = (await got.json()) as { id?: unknown; error: { code: number } };
    return [got.status, message.error.code, "id" in message ? message.id : "none"];
  };
  const modern = { "mcp-protocol-version": "2026-07-28" };
  expect(await post("{")).toEqual([400, -32700, null]);
  expect(await post("{", modern)).toEqual([400, -32700, "none"]);
  expect(await post("[]")).toEqual([400, -32600, null]);
  expect(await post("[".repeat(100_000))).toEqual([400, -32600, null]);
  expect(await post('{"jsonrpc":"2.0","id":{},"method":"ping"}')).toEqual([400, -32600, null]);
  expect(await post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).toEqual([400, -32600, 1]);
  expect(await post('{"jsonrpc":"2.0","id":"1","method":"tools/list"}', modern)).toEqual([400, -32602, "1"]);
  const old = new ModernClient({ url: at("modern"), key: ALICE });
  const meta = { "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
  const got = await old.request(
    "tools/list",
    {},
    { meta, headers: { "mcp-protocol-version": "2099-01-01" } },
  );
  expect([got.status, got.message["error"]]).toMatchObject([
    400,
    { code: -32022, data: { requested: "2099-01-01" } },
  ]);
  const named = await old.request("tools/call", { name: "echo" }, { headers: { "mcp-name": "other" } });
  expect([named.status, named.message["error"]]).toMatchObject([400, { code: -32020 }]);
});

test("each call of a tool is a call in the log, with its price, and those of unknown tools are in none", async () => {
  const before = gateway.log.length;
  const client = new ModernClient({ url: at(""), key: ALICE });
  await client.call("modern__echo");
  await client.call("modern__never-heard");
  await client.call("legacy__cut");
  const logged = (name: string) =>
    gateway.log.slice(before).some((line) => line.includes(`"model":"${name}"`));
  await until(() => logged("modern__echo") && logged("legacy__cut"));
  const ended = (model: unknown) => model === "modern__echo" || model === "legacy__cut";
  const records = gateway.log.slice(before).flatMap((line) => {
    const record = line.startsWith("{") ? (JSON.parse(line) as Record<string, unknown>) : {};
    return record["provider"] === "mcp" && ended(record["model"]) ? [record] : [];
  });
  expect(records.map((one) => [one["model"], one["status"], one["key"], one["tool_call"]])).toMatchObject([
    ["modern__echo", 200, "alice", { server: "modern", outcome: "result" }],
    ["legacy__cut", 502, "alice", { server: "legacy", outcome: "error" }],
  ]);
});

test("subscribers hear of changes at servers of both eras", async () => {
  const heard: string[] = [];
  const client = new ModernClient({ url: at(""), key: ALICE });
  const stopping = new AbortController();
  const response = await client.send(
    "subscriptions/listen",
    { notifications: { toolsListChanged: true } },
    { signal: stopping.signal },
  );
  const reading = (async () => {
    for await (const message of messagesOf(response)) heard.push(String(message["method"]));
  })().catch(() => {});
  expect(await until(() => heard[0] === "notifications/subscriptions/acknowledged")).toBe(true);
  servers["modern"]!.tell("notifications/tools/list_changed");
  // The same server is there under two names.
  expect(await until(() => heard.length === 3)).toBe(true);
  servers["legacy"]!.tell("notifications/tools/list_changed");
  expect(await until(() => heard.length === 4)).toBe(true);
  stopping.abort();
  await reading;
});

test("definitions reach callers as the server wrote them, whatever is in them", async () => {
  const odd = definition("odd", {
    inputSchema: { type: "object", default: { bytes: 5 }, maximum: 12345678901234567000 },
  });
  servers["modern"]!.tools.push(odd);
  try {
    await new ModernClient({ url: at("modern"), key: ALICE }).request("tools/list");
    const listed = await fetch(`${gateway.url}/v1/tools`, { headers: { authorization: `Bearer ${ALICE}` } });
    const { data } = (await listed.json()) as { data: JsonObject[] };
    const found = data.find(({ name }) => name === "modern__odd");
    expect(found?.["inputSchema"]).toEqual(odd["inputSchema"]!);
  } finally {
    servers["modern"]!.tools.pop();
  }
});

test("an endpoint at another origin gets no message", async () => {
  old.cut();
  old.endpoint = "http://localhost:9/messages";
  try {
    const got = await new ModernClient({ url: at("old"), key: ALICE, capabilities: { roots: {} } }).request(
      "tools/list",
    );
    expect(got.message["error"]).toMatchObject({
      code: 1002,
      message: expect.stringContaining("another origin"),
    });
  } finally {
    old.endpoint = "";
  }
});

async function until(isTrue: () => boolean, most = 300): Promise<boolean> {
  for (let tries = 0; tries < most && !isTrue(); tries++) await Bun.sleep(20);
  return isTrue();
}
