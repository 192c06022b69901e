/** Captured calls that are sent again over the admin API: the record, the key that pays, who may, and that no client can forge it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../../../../test/helpers/serving.ts";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { MARK_HEADER } from "../mark.ts";

setDefaultTimeout(120_000);

const ALICE = { name: "alice", key: "weir-test-alice-0123456789", path: "/eng" };
const BOB = { name: "bob", key: "weir-test-bob-012345678901", path: "/sales" };
const POOR = { name: "poor", key: "weir-test-poor-01234567890", path: "/eng/poor" };

interface Recorded {
  model: string;
  key?: string;
  replayOf?: string;
  refused?: string;
  status: number;
  stream: boolean;
  facts?: { name: string; text: string }[];
}
interface Answered {
  status: number;
  text: string;
  id: string | null;
  isRelayed: boolean;
  code?: string;
}

let books: RunningBooks;

beforeAll(async () => {
  books = await startBooks({
    workers: 2,
    config: {
      keys: [ALICE, BOB, POOR],
      capture: { share: 1, bytes: 8_000_000 },
      prices: { "mock/echo": { input: 3, output: 15 }, "mock/chat": { input: 3, output: 15 } },
      budgets: { empty: { on: "/eng/poor", limit: 0.000001, every: "total", mode: "hard" } },
    },
  });
});
afterAll(() => books.end());

/** @returns the id of a captured call */
async function ask(body: object, { path = "/v1/chat/completions", key = ALICE.key, headers = {} } = {}) {
  const response = await fetch(books.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
  });
  await response.text();
  const id = response.headers.get("x-request-id")!;
  await recorded(id);
  return id;
}

function admin(path: string, { body, key = books.admin.credential }: { body?: object; key?: string } = {}) {
  return fetch(`${books.admin.url}/admin/v1${path}`, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function recorded(id: string): Promise<Recorded> {
  let response = await admin(`/calls/${id}`);
  expect(await until(async () => (response = await admin(`/calls/${id}`)).ok, 10_000)).toBe(true);
  return (await response.json()) as Recorded;
}

async function replay(id: string, body: object = {}, key?: string): Promise<Answered> {
  const response = await admin(`/calls/${id}/replay`, { body, ...(key && { key }) });
  const text = await response.text();
  const isRelayed = response.headers.has("x-weir-relayed");
  const { error } = isRelayed ? {} : (JSON.parse(text) as { error?: { code: string } });
  return {
    ...{ status: response.status, text, isRelayed, id: response.headers.get("x-request-id") },
    ...(error && { code: error.code }),
  };
}

const say = (content: string, more: object = {}) => ({
  model: "mock/echo",
  messages: [{ role: "user", content }],
  ...more,
});

function adminKey(name: string, ...args: string[]): string {
  const { output } = books.run("admin", "key", "create", name, ...args, "--json");
  return (JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)) as { secret: string })
    .secret;
}

describe("change 9, S10: a captured call is sent again", () => {
  test("as it was, by its own key; log, API, command line and filter name the first call", async () => {
    const id = await ask(say("the words of this test"));
    const again = await replay(id);
    expect([again.status, again.isRelayed]).toEqual([200, true]);
    expect(again.text).toContain("the words of this test");
    const call = await recorded(again.id!);
    expect(call).toMatchObject({ replayOf: id, model: "mock/echo", key: "config:alice", stream: false });
    expect(call.facts).toContainEqual(expect.objectContaining({ name: "replayOf", text: id }));
    expect(await recorded(id)).not.toHaveProperty("replayOf");
    const found = (await (await admin(`/calls?replayOf=${id}`)).json()) as { calls: { id: string }[] };
    expect(found.calls.map((one) => one.id)).toEqual([again.id!]);
    expect(books.run("logs", "--call", again.id!).output).toContain(id);
    const log = await (await admin("/audit/log")).text();
    expect(log).toContain('"action":"replay"');
  });

  test("to another model, by another key, as a stream if it was one", async () => {
    const id = await ask(say("Hello", { stream: true }));
    const again = await replay(id, { model: "mock/chat", key: "bob" });
    expect(again.text).toContain("data: [DONE]");
    expect(await recorded(again.id!)).toMatchObject({
      ...{ replayOf: id, model: "mock/chat", key: "config:bob", stream: true },
    });
  });

  test("in the other formats with one path", async () => {
    const messages = {
      model: "mock/echo",
      max_tokens: 50,
      messages: [{ role: "user", content: "In messages" }],
    };
    const responses = { model: "mock/echo", store: false, input: "In responses" };
    for (const [path, body, words] of [
      ["/v1/messages", messages, "In messages"],
      ["/v1/responses", responses, "In responses"],
    ] as const) {
      const again = await replay(await ask(body, { path }));
      expect([path, again.status]).toEqual([path, 200]);
      expect(again.text).toContain(words);
    }
  });

  test("a body of 6 MB goes as it was", async () => {
    const id = await ask(say(`${"word ".repeat(1_200_000)}the last`));
    const again = await replay(id, { model: "mock/chat" });
    expect(again.status).toBe(200);
    const plan = (await (await admin(`/calls/${id}/replay/explain`, { body: {} })).json()) as {
      bytes: number;
    };
    expect(plan.bytes).toBeGreaterThan(6_000_000);
  });
});

describe("change 9: what it costs is known before", () => {
  test("the plan has the price, who would serve it, and no body", async () => {
    const id = await ask(say("secret-words-of-this-call"));
    const response = await admin(`/calls/${id}/replay/explain`, { body: { model: "mock/chat" } });
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({
      ...{ status: 200, format: "chat-completions", stream: false, masked: false, tools: [], runs: [] },
      servedBy: { provider: "mock", model: "chat" },
      cost: { most: expect.any(Number) },
    });
    expect(text).not.toContain("secret-words-of-this-call");
  });

  test("an unknown model and an empty budget are said before, and refused by the gateway after", async () => {
    const id = await ask(say("Hello"));
    const plan = async (body: object) =>
      (await (await admin(`/calls/${id}/replay/explain`, { body })).json()) as {
        status: number;
        fault: string;
      };
    expect(await plan({ model: "nowhere-9" })).toMatchObject({
      status: 404,
      fault: expect.stringContaining("nowhere-9"),
    });
    const unknown = await replay(id, { model: "nowhere-9" });
    expect([unknown.status, unknown.isRelayed]).toEqual([404, true]);
    expect(await recorded(unknown.id!)).toMatchObject({ replayOf: id, status: 404 });
    const poor = await replay(id, { key: "poor" });
    expect([poor.isRelayed, await recorded(poor.id!)]).toMatchObject([
      true,
      { replayOf: id, refused: "budget" },
    ]);
  });
});

describe("change 9: no client can say that its call repeats another one", () => {
  test("neither by the header, nor through the playground, nor with an old mark", async () => {
    const first = await ask(say("Hello"));
    const made = `${first}.${Date.now()}.${"A".repeat(43)}`;
    for (const mark of [first, made]) {
      const id = await ask(say("Forged"), { headers: { [MARK_HEADER]: mark } });
      expect(await recorded(id)).not.toHaveProperty("replayOf");
    }
    const body = {
      format: "chat-completions",
      key: "alice",
      body: say("Played"),
      headers: { [MARK_HEADER]: made },
    };
    const played = await admin("/playground", { body });
    await played.text();
    expect(await recorded(played.headers.get("x-request-id")!)).not.toHaveProperty("replayOf");
    // The mark must not reach providers or answers either: it is in no header of the answer.
    const again = await admin(`/calls/${first}/replay`, { body: {} });
    await again.text();
    expect([...again.headers.keys()]).not.toContain(MARK_HEADER);
  });
});

describe("change 9: who may", () => {
  test("read keys, keys for calls and other paths may not; the admin of its path may, with keys of that path", async () => {
    const id = await ask(say("Hello"));
    const eng = adminKey("eng", "--path", "/eng");
    const cases: [who: string, key: string, status: number, code?: string][] = [
      ["a read key", adminKey("reader", "--read"), 403],
      ["a key for calls", ALICE.key, 403],
      ["the admin of another path", adminKey("sales", "--path", "/sales"), 404, "not_found"],
      ["the admin of its path", eng, 200],
      ["anybody", "nothing", 401],
    ];
    for (const [who, key, status, code] of cases) {
      const got = await replay(id, {}, key);
      expect([who, got.status, got.isRelayed]).toEqual([who, status, status === 200]);
      if (code) expect(got.code).toBe(code);
      const plan = await admin(`/calls/${id}/replay/explain`, { body: {}, key });
      expect([who, plan.status]).toEqual([who, status]);
    }
    const foreign = await replay(id, { key: "bob" }, eng);
    expect([foreign.status, foreign.code]).toEqual([404, "not_found"]);
  });

  test("a revoked key pays for nothing", async () => {
    const made = await books.api.send<{ secret: string; id: string }>("POST", "/keys", {
      body: { name: "gone" },
    });
    const id = await ask(say("Hello"), { key: made.secret });
    await books.api
      .send("DELETE", `/keys/${made.id}`)
      .catch(() => books.run("keys", "revoke", "gone", "--yes"));
    const got = await replay(id);
    expect([got.status, got.isRelayed]).toEqual([400, false]);
    expect(got.text).toContain("admits no calls");
    expect((await replay(id, { key: "alice" })).status).toBe(200);
  });
});

describe("change 9: what cannot be sent again says why", () => {
  test("not captured, only the beginning kept, images replaced, another kind of call", async () => {
    const forbidden = await ask(say("Hello"), { headers: { "x-weir-capture": "no" } });
    expect(await replay(forbidden)).toMatchObject({ status: 404, code: "not_captured" });
    const long = await ask(say("word ".repeat(1_700_000)));
    expect(await replay(long)).toMatchObject({
      status: 409,
      code: "not_repeatable",
      text: expect.stringContaining("capture.bytes"),
    });
    const url = `data:image/png;base64,${"iVBORw0KGgo".repeat(100)}`;
    const image = await ask({
      model: "mock/echo",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    });
    expect(await replay(image)).toMatchObject({ status: 409, text: expect.stringContaining("digests") });
    const counted = await ask(
      { model: "mock/echo", messages: [{ role: "user", content: "x" }] },
      { path: "/v1/messages/count_tokens" },
    );
    expect((await replay(counted)).status).not.toBe(200);
    const gemini = await ask(
      { contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
      { path: "/v1beta/models/mock%2Fecho:generateContent" },
    );
    expect(await replay(gemini)).toMatchObject({
      ...{ status: 409, code: "not_repeatable" },
      text: expect.stringContaining("Copy as curl"),
    });
    expect(await replay("req_nothing")).toMatchObject({ status: 404, code: "not_found" });
  });

  test("a masked credential goes as ***, and the plan says so", async () => {
    const id = await ask(say("The key is sk-proj-pastedpastedpasted0123456789"));
    const plan = (await (await admin(`/calls/${id}/replay/explain`, { body: {} })).json()) as object;
    expect(plan).toMatchObject({ masked: true });
    expect((await replay(id)).text).toContain("The key is ***");
  });
});
