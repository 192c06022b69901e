/** Running calls watched by operators: what comes, masked; who may; clients that leave; workers that die; readers that do not read. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { type Spoken, startSpokenVendor } from "../../../../test/helpers/spoken-vendor.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";

setDefaultTimeout(120_000);

const vendor = startSpokenVendor();
const KEYS = [
  { name: "alice", key: "weir-test-alice-0123456789", path: "/eng" },
  { name: "bob", key: "weir-test-bobby-0123456789", path: "/sales" },
];
const SECRET = "sk-proj-pastedpastedpasted0123456789";

let books: RunningBooks;
let config: Record<string, unknown>;
beforeAll(async () => {
  const provider = { baseUrl: `${vendor.url}/v1`, speaks: "chat-completions", models: ["m"] };
  config = { keys: KEYS, providers: { own: provider }, prices: { "own/m": { input: 3, output: 15 } } };
  books = await startBooks({ workers: 2, config });
});
afterAll(async () => {
  await books.end();
  vendor.stop();
});

interface Running {
  id: string;
  response: Response;
  answer: Spoken;
  leave(): void;
}

let asked = 0;

/** Begins a stream, of which the first word has come. */
async function begin({
  path = "/v1/chat/completions",
  headers = {} as Record<string, string>,
  key = KEYS[0]!.key,
} = {}): Promise<Running> {
  const prompt = `question ${++asked}`;
  const leaving = new AbortController();
  const asking = fetch(`${books.url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${key}`,
      connection: "close",
      ...headers,
    },
    body: JSON.stringify({
      ...{ model: "own/m", stream: true, max_tokens: 1_000 },
      messages: [{ role: "user", content: prompt }],
    }),
    signal: leaving.signal,
  });
  const answer = await Promise.race([vendor.answer(prompt), asking.then(() => vendor.answer(prompt))]);
  answer.say("First ");
  const response = await asking;
  return { id: response.headers.get("x-request-id")!, response, answer, leave: () => leaving.abort() };
}

interface Part {
  part: number;
  kind: string;
  name?: string;
  text: string;
}

/** A reader of a watched call. */
class Watcher {
  readonly status: number;
  readonly parts: Part[] = [];
  lost = 0;
  facts: { output?: number; cost?: number; path?: string; phase?: string } = {};
  ended: { lost?: boolean } | undefined;
  readonly error: { code?: string; message?: string } = {};
  #stop = new AbortController();

  private constructor(status: number) {
    this.status = status;
  }

  static async open(id: string, key = books.admin.credential): Promise<Watcher> {
    const stop = new AbortController();
    const response = await fetch(`${books.admin.url}/admin/v1/calls/${id}/live`, {
      headers: { authorization: `Bearer ${key}` },
      signal: stop.signal,
    });
    const watcher = new Watcher(response.status);
    watcher.#stop = stop;
    if (response.ok) void watcher.#read(response).catch(() => {});
    else Object.assign(watcher.error, ((await response.json()) as { error: object }).error);
    return watcher;
  }

  text(kind: string): string {
    return this.parts
      .filter((part) => part.kind === kind)
      .map(({ text }) => text)
      .join("");
  }

  close(): void {
    this.#stop.abort();
  }

  async #read(response: Response): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const bytes of response.body!) {
      rest += decoder.decode(bytes, { stream: true });
      const events = rest.split("\n\n");
      rest = events.pop()!;
      for (const event of events) this.#take(event);
    }
  }

  #take(event: string): void {
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
    if (name === undefined) return;
    const value = JSON.parse(data!) as { parts: Part[]; lost?: number };
    if (name === "call") this.facts = value as object;
    else if (name === "end") this.ended = value as object;
    else {
      this.parts.push(...value.parts);
      this.lost += value.lost ?? 0;
    }
  }
}

const comes = async (is: () => boolean) => expect(await until(async () => is(), 8_000)).toBe(true);

test.each([
  ["as the provider speaks", "/v1/chat/completions"],
  ["translated for another client", "/v1/messages"],
])("text, reasoning and arguments come as they are said, %s", async (_, path) => {
  const { id, response, answer } = await begin({ path });
  const watcher = await Watcher.open(id);
  expect(watcher.status).toBe(200);
  answer.think("Let me ");
  answer.think("see. ");
  await comes(() => watcher.text("reasoning").includes("Let me "));
  answer.say("Hello ");
  answer.say("wor");
  await comes(() => watcher.text("text").includes("Hello "));
  answer.say("ld now. ");
  await comes(() => watcher.text("text").includes("world now. "));
  answer.call(0, '{"comm', "bash");
  answer.call(0, 'and": "ls"}');
  await comes(() => watcher.text("call").includes("command"));
  await comes(() => (watcher.facts.cost ?? 0) > 0 && (watcher.facts.output ?? 0) > 0);
  expect(watcher.ended).toBeUndefined();
  answer.end();
  await response.text();
  await comes(() => watcher.ended !== undefined);
  expect(watcher.text("call")).toBe('{"command": "ls"}');
  expect(watcher.parts.find(({ kind }) => kind === "call")!.name).toBe("bash");
  expect(watcher.text("reasoning")).toBe("Let me see. ");
  // The first word may have come before the watcher.
  expect(watcher.text("text").replace(/^First /, "")).toBe("Hello world now. ");
  expect(watcher.ended).toEqual({});
  const log = await books.api.send<{ entries: { action: string; subject: string }[] }>("GET", "/audit/log");
  expect(
    log.entries.filter(({ action, subject }) => action === "look" && subject === `calls/${id}/live`),
  ).toHaveLength(1);
  expect((await Watcher.open(id)).error.code).toBe("not_running");
});

test("two readers of one call get the same, also the one that comes later; one that leaves does not end the other", async () => {
  const { id, response, answer } = await begin();
  const first = await Watcher.open(id);
  answer.say("Some words. ");
  await comes(() => first.text("text").includes("words. "));
  const second = await Watcher.open(id);
  await comes(() => second.text("text").includes("words. "));
  expect(second.text("text")).toBe(first.text("text"));
  first.close();
  answer.say("More words. ");
  await comes(() => second.text("text").includes("More words. "));
  second.close();
  await Bun.sleep(300);
  const third = await Watcher.open(id);
  answer.say("The last words. ");
  await comes(() => third.text("text").includes("last words. "));
  expect(third.lost).toBeGreaterThan(0);
  answer.end();
  await response.text();
  await comes(() => third.ended !== undefined);
});

test("only those who may read bodies watch, each on its path, and a client can forbid it", async () => {
  const make = (name: string, ...args: string[]) => {
    const { output } = books.run("admin", "key", "create", name, ...args, "--json");
    return (JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)) as { secret: string })
      .secret;
  };
  const { id, answer, response } = await begin();
  const cases: [who: string, key: string, status: number][] = [
    ["a read key", make("reader", "--read"), 403],
    ["a key for calls", KEYS[0]!.key, 403],
    ["an admin key of another path", make("sales", "--path", "/sales"), 404],
    ["an admin key of its path", make("eng", "--path", "/eng"), 200],
    ["no key", "nothing", 401],
  ];
  for (const [who, key, status] of cases) {
    const watcher = await Watcher.open(id, key);
    expect([who, watcher.status]).toEqual([who, status]);
    watcher.close();
  }
  answer.end();
  await response.text();
  const forbidding = await begin({ headers: { "x-weir-capture": "no" } });
  expect((await Watcher.open(forbidding.id)).error).toMatchObject({ code: "not_permitted" });
  forbidding.answer.end();
  await forbidding.response.text();
  expect((await Watcher.open("req_of_no_call")).error.code).toBe("not_running");
});

test("a client that leaves ends the view", async () => {
  const { id, leave, response } = await begin();
  const watcher = await Watcher.open(id);
  leave();
  await response.text().catch(() => {});
  await comes(() => watcher.ended !== undefined);
  expect(watcher.ended).toEqual({});
});

test("200 readers: a hundred watch, the others learn of the limit, and the client's stream goes on", async () => {
  const { id, response, answer } = await begin();
  const all = await Promise.all(Array.from({ length: 200 }, () => Watcher.open(id)));
  const watching = all.filter(({ status }) => status === 200);
  expect(watching).toHaveLength(100);
  expect(new Set(all.filter(({ status }) => status !== 200).map(({ error }) => error.code))).toEqual(
    new Set(["too_many_watchers"]),
  );
  answer.say("For all of them. ");
  await comes(() => watching.every((one) => one.text("text").includes("all of them. ")));
  for (const one of watching) one.close();
  await comes(() => !answer.isLeft());
  const next = await until(async () => (await Watcher.open(id)).status === 200, 5_000);
  expect(next).toBe(true);
  answer.end();
  expect(await response.text()).toContain("For all of them. ");
});

/** A reader whose socket accepts nothing. */
function openStalled(id: string): Promise<Socket> {
  const { hostname, port } = new URL(books.admin.url);
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const socket = connect(Number(port), hostname, () => {
    socket.write(
      `GET /admin/v1/calls/${id}/live HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${books.admin.credential}\r\n\r\n`,
    );
    socket.once("data", () => {
      socket.pause();
      resolve(socket);
    });
  });
  socket.on("error", () => {});
  return promise;
}

test("a reader that does not read neither slows the client nor fills memory; it gets a mark for what it missed", async () => {
  const { id, response, answer } = await begin();
  const stalled = await openStalled(id);
  const word = `${"lorem ipsum ".repeat(340)}\n`;
  const begun = performance.now();
  const read = response.text();
  for (let n = 0; n < 2_000; n++) {
    answer.say(word);
    if (n % 50 === 0) await Bun.sleep(1);
  }
  answer.end();
  expect((await read).length).toBeGreaterThan(8_000_000);
  expect(performance.now() - begun).toBeLessThan(20_000);
  let text = "";
  stalled.on("data", (bytes) => (text += bytes.toString()));
  stalled.resume();
  await comes(() => text.includes("event: end"));
  const lost = [...text.matchAll(/"lost":(\d+)/g)].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
  expect(lost).toBeGreaterThan(1_000_000);
  expect(text.length).toBeLessThan(2_000_000);
  stalled.destroy();
});

test("a secret stays masked wherever the pieces cut it, and so does what the config masks", async () => {
  books.configure(JSON.stringify({ ...config, capture: { mask: ["[\\w.]+@example\\.com"] } }));
  expect(books.run("reload").code).toBe(0);
  for (const cut of [1, 3, 7, 20]) {
    const { id, response, answer } = await begin();
    const watcher = await Watcher.open(id);
    for (const text of [`Use ${SECRET} and write to jo.doe@example.com soon.`])
      for (let at = 0; at < text.length; at += cut) {
        answer.say(text.slice(at, at + cut));
        await Bun.sleep(2);
      }
    answer.call(0, '{"command": "echo ', "bash");
    for (let at = 0; at < SECRET.length; at += cut) answer.call(0, SECRET.slice(at, at + cut));
    answer.call(0, '"}');
    answer.end();
    expect(await response.text()).toContain("[DONE]");
    await comes(() => watcher.ended !== undefined);
    expect(watcher.text("text").replace(/^First /, "")).toBe("Use *** and write to *** soon.");
    expect(watcher.text("call")).toBe('{"command": "echo ***"}');
  }
});

// It comes last: it kills a worker.
test("a worker that dies while it is watched ends the view, which says so; the next call can be watched", async () => {
  const { id, response } = await begin();
  const read = response.text().catch(() => "");
  const watcher = await Watcher.open(id);
  for (const pid of books.workers()) process.kill(pid, "SIGKILL");
  await comes(() => watcher.ended !== undefined);
  expect(watcher.ended).toEqual({ lost: true });
  await read;
  let next: Running | undefined;
  await until(async () => (next = await begin().catch(() => undefined)) !== undefined, 10_000);
  let later: Watcher | undefined;
  expect(await until(async () => (later = await Watcher.open(next!.id)).status === 200, 8_000)).toBe(true);
  // With expressions of the operator the last words wait.
  next!.answer.say("It goes on. ".repeat(10));
  await comes(() => later!.text("text").includes("goes on. "));
  next!.answer.end();
  await next!.response.text();
});
