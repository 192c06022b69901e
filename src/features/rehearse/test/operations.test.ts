/** Rehearsals in the admin API, over a gateway whose keeper is a process of its own. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askModel, type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { until } from "../../../../test/helpers/serving.ts";
import type { RehearsalOutlines, RehearsalReport } from "../page/contracts.ts";

setDefaultTimeout(120_000);

/** In the environment of the gateway; if the admin API ever shows it, a test fails. */
const CANARY = "canary-5e0b2f91d4a7";
const SECRET = "canary-of-a-text";
/** Calls of the alias, and all with one that goes to a vendor, who is not there. */
const [CALLS, ALL] = [5, 6];

/** A config as the gateway has it, with changes. */
const configWith = (changes: Record<string, unknown>) => JSON.stringify({ ...CONFIG, ...changes });
const CONFIG = {
  // A busy machine would leave outlines out.
  rehearse: { share: 1 },
  aliases: { fast: "mock/chat" },
  prices: { "mock/chat": { input: 3, output: 15 }, "mock/echo": { input: 1, output: 5 } },
  providers: {
    vendor: {
      baseUrl: "http://127.0.0.1:9/${CANARY_PLACE}",
      speaks: "chat-completions",
      models: ["m"],
      apiKey: "${CANARY_KEY}",
    },
  },
};

/** Where the gateways have their temporary files. */
const temporary = mkdtempSync(join(tmpdir(), "weir-test-"));
/** Without it, each body would be another one. */
const PLUGIN = `import { definePlugin } from "weir";
export default definePlugin({ name: "cooler", hooks: { request(request) { request.temperature = 0.25; } } });`;
let books: RunningBooks;
let empty: RunningBooks;

beforeAll(async () => {
  const env = { CANARY_KEY: CANARY, CANARY_PLACE: "v1", TMPDIR: temporary };
  [books, empty] = await Promise.all([
    startBooks({ workers: 2, config: CONFIG, env, plugins: { "cooler.ts": PLUGIN } }),
    startBooks({ workers: 1, config: CONFIG, env }),
  ]);
  for (let call = 0; call < CALLS; call++) await askModel(books.url, "fast");
  await askModel(books.url, "vendor/m");
  const kept = async () => (await outlines()).number === ALL;
  expect(await until(kept, 30_000)).toBe(true);
});

afterAll(async () => {
  await Promise.all([books?.end(), empty?.end()]);
  rmSync(temporary, { recursive: true, force: true });
});

function post(body: object, { admin }: RunningBooks = books): Promise<Response> {
  return fetch(`${admin.url}/admin/v1/rehearsals`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${admin.credential}` },
    body: JSON.stringify(body),
  });
}

const outlines = () => books.api.send<RehearsalOutlines>("GET", "/rehearsals/outlines");

async function rehearsed(config: string, more: object = {}): Promise<RehearsalReport> {
  const response = await post({ config, ...more });
  const text = await response.text();
  expect([response.status, response.status === 200 ? "" : text]).toEqual([200, ""]);
  return JSON.parse(text) as RehearsalReport;
}

async function refusedBy(config: string): Promise<[number, { code: string; message: string }]> {
  const response = await post({ config });
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return [response.status, error];
}

test("the outlines are counted, with their size and their times", async () => {
  const { number, bytes, oldest, newest } = await outlines();
  expect(number).toBe(ALL);
  expect(bytes).toBeGreaterThan(ALL * 100);
  expect(Date.now() - oldest!).toBeLessThan(300_000);
  expect(newest!).toBeGreaterThanOrEqual(oldest!);
});

test("the config on the disk changes no call", async () => {
  const report = await rehearsed(configWith({}));
  expect(report).toMatchObject({ calls: ALL, same: ALL, changed: 0, needs_tape: 0, examples: {} });
});

test("another model changes target and price, and one changed call is there as a whole", async () => {
  const report = await rehearsed(configWith({ aliases: { fast: "mock/echo" } }));
  expect(report).toMatchObject({ calls: ALL, same: 1, changed: CALLS, needs_tape: 0, damaged: false });
  const { groups } = report.causes["target"]!;
  expect(groups).toEqual([{ what: "mock/mock/chat -> mock/mock/echo", calls: CALLS, first: 1 }]);
  expect(report.causes["price"]!.groups[0]!.after!).toBeLessThan(report.causes["price"]!.groups[0]!.before!);
  expect(report.examples["1"]).toMatchObject({ model: "fast", format: "chat-completions" });
  expect(report.examples["1"]!.differences).toContainEqual({
    ...{ cause: "target", what: "mock/mock/chat -> mock/mock/echo" },
    ...{ before: "mock/mock/chat", after: "mock/mock/echo" },
  });
});

test("the newest calls alone, and those since a time", async () => {
  const config = configWith({ aliases: { fast: "mock/echo" } });
  expect((await rehearsed(config, { last: 2 })).calls).toBe(2);
  expect((await rehearsed(config, { since: Date.now() - 3_600_000 })).calls).toBe(ALL);
  const none = await post({ config, since: Date.now() + 3_600_000 });
  expect([none.status, await none.text()]).toEqual([409, expect.stringContaining("began in this time")]);
});

test("a mistake is refused with its file and line, as weir check says it", async () => {
  const text = 'aliases:\n  fast: mock/chat\nlimits:\n  depth: "many"\n';
  const file = join(books.folder, "wrong.yaml");
  writeFileSync(file, text);
  const [status, error] = await refusedBy(text);
  const { output } = books.run("check", "--config", file);
  const said = output.split("\n").find((line) => line.includes("wrong.yaml:4"))!;
  expect([status, error.code]).toEqual([400, "config_refused"]);
  expect(error.message).toStartWith("weir.yaml:4: ");
  expect(said).toContain(error.message.replace("weir.yaml:4: ", ""));
});

test.each([
  ["no YAML", "a: [1", /^weir\.yaml:1: not valid YAML/],
  [
    "a variable in an address",
    at("baseUrl", `http://127.0.0.1:9/\${CANARY_KEY}`),
    /providers\.vendor\.baseUrl/,
  ],
  ["a variable in a shown header", at("headers", { "openai-organization": "${CANARY_KEY}" }), /headers/],
  ["a variable in the place of a number", '{"port": "${CANARY_KEY}"}', /^weir\.yaml:1: .*port/],
  ["a file in a name of a model", at("models", ["${file:/etc/hostname}"]), /models/],
  ["another config file", '{"include": ["/etc/passwd"]}', /include/],
  ["another folder of plugins", '{"plugins": {"dir": "/tmp"}}', /plugins\.dir/],
])("refused: %s", async (_, config, words) => {
  const [status, error] = await refusedBy(config);
  expect([status, error.code]).toEqual([400, "config_refused"]);
  expect(error.message).toMatch(words);
  expect(error.message).not.toContain(CANARY);
});

function at(option: string, value: unknown): string {
  return configWith({ providers: { vendor: { ...CONFIG.providers.vendor, [option]: value } } });
}

test("references in secrets, and those of the config on the disk, are taken, and no value is shown", async () => {
  const { vendor } = CONFIG.providers;
  const config = configWith({
    aliases: { fast: "other/m" },
    providers: {
      vendor,
      other: { ...vendor, baseUrl: "http://127.0.0.1:9/v1", headers: { "x-team": SECRET } },
    },
  });
  const response = await post({ config });
  const text = await response.text();
  expect(response.status).toBe(200);
  expect((JSON.parse(text) as RehearsalReport).causes["target"]!.groups[0]!.what).toContain("other/m");
  expect(text).not.toContain(CANARY);
  expect(text).not.toContain(SECRET);
});

test("relative paths lead where those of the config on the disk do, and nothing there is changed", async () => {
  mkdirSync(join(books.folder, "secrets"));
  writeFileSync(join(books.folder, "secrets/key"), "a-key\n");
  const before = contents(books.folder);
  // The vendor gets another credential; its value is not shown.
  expect((await rehearsed(at("apiKey", "${file:secrets/key}"))).same).toBe(CALLS);
  const [status, error] = await refusedBy(at("apiKey", "${file:secrets/gone}"));
  expect([status, error.code]).toEqual([400, "config_refused"]);
  expect(error.message).toContain("secrets/gone");
  expect(contents(books.folder)).toEqual(before);
});

const contents = (folder: string) =>
  ["weir.yaml", "secrets/key"].map((name) => readFileSync(join(folder, name), "utf8"));

test("one rehearsal runs at a time, and the next one runs after it", async () => {
  const running = [post({ config: configWith({}) }), post({ config: configWith({}) })];
  const own = () => readdirSync(temporary).filter((name) => name.startsWith("weir-rehearsal-"));
  expect(await until(() => own().length === 1, 30_000)).toBe(true);
  const folder = join(temporary, own()[0]!);
  expect([statSync(folder).mode & 0o777, statSync(join(folder, "weir.yaml")).mode & 0o777]).toEqual([
    0o700, 0o600,
  ]);
  const both = await Promise.all(running);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  const { error } = (await both.find(({ status }) => status === 409)!.json()) as { error: { code: string } };
  expect(error.code).toBe("rehearsal_running");
  await rehearsed(configWith({}));
});

test("without outlines there is a sentence, and the keeper of a single process answers the same", async () => {
  const response = await post({ config: configWith({}) }, empty);
  expect(response.status).toBe(409);
  expect(await response.text()).toContain("rehearse.outlines: on");
  await askModel(empty.url, "fast");
  const isKept = async () => (await post({ config: configWith({}) }, empty)).status === 200;
  expect(await until(isKept, 30_000)).toBe(true);
});

test.each(["--read", "--path=/eng"])("a key made with %s may not rehearse", async (flag) => {
  const name = flag.replace(/\W+/g, "-").slice(1);
  const { code, output } = books.run("admin", "key", "create", name, flag, "--json");
  expect([code, code === 0 ? "" : output]).toEqual([0, ""]);
  const { secret } = JSON.parse(output.slice(0, output.lastIndexOf("}") + 1)) as { secret: string };
  const admin = { url: books.admin.url, credential: secret };
  expect((await post({ config: "{}" }, { ...books, admin })).status).toBe(403);
});

test("each rehearsal is in the audit log, without its text, and leaves no file", async () => {
  const { entries } = await books.api.send<{ entries: { action: string; subject: string; after: object }[] }>(
    "GET",
    "/audit/log",
  );
  const own = entries.filter(({ action, subject }) => action === "rehearse" && subject === "rehearsals");
  expect(own.length).toBeGreaterThan(5);
  expect(own[0]!.after).toMatchObject({ config: expect.stringMatching(/^[0-9a-f]{64}$/), last: 10_000 });
  expect(readdirSync(temporary).filter((name) => name.startsWith("weir-rehearsal-"))).toEqual([]);
});
