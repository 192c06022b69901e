/** A form of credentials in a copy of the source: each worker asks it, the books of all count its callers, and the admin API does not know it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serve, until } from "../helpers/serving.ts";
import { SourceCopy } from "../helpers/source-copy.ts";
import { makeToken } from "../helpers/tokens.ts";

setDefaultTimeout(120_000);

const SECRET = "planted-secret-of-the-issuer";
const KEY = "weir-planted-key-000001";
const ADMIN = "weir-planted-admin-0001";
const CENTS = 12;

/** A program whose answers cost a cent. */
const PAINTER = `export default { name: "painter", providers: [{ name: "painter", models: ["picture", "film"],
  async *generate(request) {
    yield { type: "message-start", id: "a", model: "picture" };
    yield { type: "block-start", index: 0, block: { type: "text" } };
    yield { type: "block-delta", index: 0, delta: "done by " + process.pid };
    if (JSON.stringify(request).includes("a film")) await new Promise((resolve) => setTimeout(resolve, 12_000));
    yield { type: "block-end", index: 0 };
    const usage = { input: 10, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0, known: "final" };
    yield { type: "message-end", reason: { kind: "stop" }, usage };
  } }] };`;

let copy: SourceCopy;
let root = "";

beforeAll(() => {
  copy = new SourceCopy();
  ({ root } = copy);
  copy.take("test/helpers/tokens.ts");
  copy.add("tokens", "test/helpers/tokens.ts");
});

afterAll(() => copy.remove());

/** A stream that failed ends with its error event, and weir closes the connection before the end of the body. */
async function readUntilBroken(answer: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const bytes of answer.body!) text += decoder.decode(bytes, { stream: true });
  } catch {
    return text;
  }
  throw new Error(`the stream looks whole: ${text}`);
}

test.each([1, 2])("with %i workers", async (workers) => {
  const revoked = join(root, `revoked-${workers}`);
  writeFileSync(revoked, "");
  const config = {
    log: { format: "json" },
    keys: [{ name: "team", key: KEY, path: "/eng" }],
    adminKeys: [{ name: "boss", key: ADMIN, role: "admin" }],
    tokens: { secret: SECRET, revoked },
    budgets: { eng: { on: "/eng", every: "total", limit: CENTS / 100, mode: "hard" } },
    prices: { "painter/film": { input: 0, output: 0 }, "painter/*": { input: 0, output: 1_000 } },
  };
  const gateway = await serve({
    ...{ root, workers, binary: false, config: JSON.stringify(config) },
    plugins: { "painter.ts": PAINTER },
  });
  try {
    const tokenOf = (sub: string) => makeToken({ sub, path: `/eng/${sub}` }, SECRET);
    const [anna, bea] = [tokenOf("anna"), tokenOf("bea")];
    /** Over a connection of its own: the system gives it to one of the workers. */
    const ask = async (path: string, credential: string, body?: object) => {
      const answer = await fetch(path.startsWith("/") ? gateway.url + path : path, {
        ...(body && { method: "POST", body: JSON.stringify(body) }),
        headers: {
          ...{ "content-type": "application/json", connection: "close" },
          authorization: `Bearer ${credential}`,
        },
        keepalive: false,
      });
      return { status: answer.status, text: await answer.text() };
    };
    const picture = {
      ...{ model: "painter/picture", max_tokens: 10, stream: true },
      messages: [{ role: "user", content: "hello" }],
    };
    const callers = [anna, bea, KEY];
    const paint = (at: number) => ask("/v1/chat/completions", callers[at % callers.length]!, picture);
    const all = await Promise.all(Array.from({ length: 5 * CENTS }, (_, at) => paint(at)));
    expect(all.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
    const done = all.filter(({ status }) => status === 200);
    expect(done.every(({ text }) => text.includes("[DONE]"))).toBe(true);
    // Shares that one worker held may have been refused by the other: they come back.
    let count = done.length;
    expect(count).toBeLessThanOrEqual(CENTS);
    for (let more = 0; more < 40 && count < CENTS; more++) if ((await paint(more)).status === 200) count++;
    expect([count, (await paint(0)).status]).toEqual([CENTS, 429]);

    expect(gateway.log).toContain("  keys: 1, and tokens of the test");
    const served = () =>
      new Set(gateway.log.flatMap((line) => (line.includes('"format"') ? [JSON.parse(line).worker] : [])));
    expect(await until(() => served().size === workers)).toBe(true);

    const admin = /(http\S+)\/console/.exec(gateway.log.join("\n"))?.[1];
    for (const path of ["keys", "calls", "usage", "budgets"]) {
      const statuses = [anna, KEY, ADMIN].map((one) => ask(`${admin}/admin/v1/${path}`, one));
      expect([path, ...(await Promise.all(statuses)).map(({ status }) => status)]).toEqual([
        path,
        401,
        403,
        200,
      ]);
    }
    const recorded = async () => {
      const { text } = await ask(`${admin}/admin/v1/calls?limit=200`, ADMIN);
      const { calls } = JSON.parse(text) as {
        calls: { path: string; key?: string; person?: string; status: number }[];
      };
      return calls.filter(({ status }) => status === 200);
    };
    expect(await until(async () => (await recorded()).length === CENTS)).toBe(true);
    const names = (await recorded()).map(({ path, key, person }) => [path, key, person].join(" "));
    const known = ["/eng/anna  anna", "/eng/bea  bea", "/eng config:team "];
    expect(names.filter((name) => !known.includes(name))).toEqual([]);

    const film = (credential: string) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${credential}`,
          "content-type": "application/json",
          connection: "close",
        },
        body: JSON.stringify({
          ...picture,
          model: "painter/film",
          messages: [{ role: "user", content: "a film" }],
        }),
        keepalive: false,
      });
    // Each answer has begun when its head is there.
    const [ofBea, ...ofAnna] = await Promise.all([bea, anna, anna, anna, anna, anna].map(film));
    appendFileSync(revoked, `${anna}\n`);
    const revokedAt = performance.now();
    for (const text of await Promise.all(ofAnna.map(readUntilBroken)))
      expect(text).toMatch(/done by \d+.*token_refused/s);
    // Each film takes 12 seconds.
    expect(performance.now() - revokedAt).toBeLessThan(10_000);
    expect(await ofBea!.text()).toContain("[DONE]");
    const after = await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(() => ask("/v1/models", anna)));
    expect(new Set(after.map(({ status }) => status))).toEqual(new Set([401]));
    expect((await ask("/v1/models", bea)).status).toBe(200);
    gateway.configure(JSON.stringify({ ...config, tokens: {} }));
    gateway.signal("SIGHUP");
    const codes = () => Promise.all([0, 1, 2, 3].map(async () => (await ask("/v1/models", bea)).text));
    const isOff = async () => (await codes()).every((text) => text.includes("invalid_api_key"));
    expect(await until(isOff)).toBe(true);
    expect((await ask("/v1/models", KEY)).status).toBe(200);

    const { code, output } = gateway.run("audit");
    expect([code, output]).toEqual([0, expect.any(String)]);
  } finally {
    await gateway.end();
  }
});
