/** What a dropped plugin adds to weir beside providers and formats: columns of the record, explanations, findings of weir check. */
import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { runCommand } from "../helpers/command.ts";
import { makeFolder, type RunningGateway } from "../helpers/gateway.ts";
import { ask, makeStage } from "../helpers/places.ts";
import { until } from "../helpers/upstream.ts";

const { gateway } = makeStage();

/** The lines of calls in the log, once there are so many. */
async function callLines({ log }: RunningGateway, count: number): Promise<Record<string, unknown>[]> {
  const lines = () =>
    log.flatMap((line) =>
      line.startsWith("{") && line.includes('"outcome"') ? [JSON.parse(line) as Record<string, unknown>] : [],
    );
  await until(
    () => lines().length >= count,
    10_000,
    () => `the log has ${lines().length} of ${count} calls`,
  );
  return lines();
}

const faultsIn = ({ log }: RunningGateway) => log.filter((line) => line.includes("plugin counts: "));

const COLUMNS = {
  "counts.js": `import { defineColumn, definePlugin } from "weir";
const size = defineColumn({ name: "size", schema: { type: "integer", minimum: 0 } });
const team = defineColumn({ name: "team", schema: { type: "string", enum: ["red", "blue"] } });
const note = defineColumn({ name: "note", schema: { type: "string" } });
export default definePlugin({
  name: "counts",
  columns: [size, team, note],
  hooks: {
    intercept(call) {
      const given = JSON.parse(call.headers.get("x-values") ?? "{}");
      if ("size" in given) size.set(call, given.size);
      if ("team" in given) team.set(call, given.team);
      if ("note" in given) note.set(call, given.note);
    },
    done(record) {
      if (record.headers.get("x-late")) size.set(record, 1);
    },
  },
});`,
};

const body = { model: "mock/echo" };
const asking = (running: RunningGateway, values: object) =>
  ask(running, { body, headers: { "x-values": JSON.stringify(values) } });

test("columns of a plugin are in the record, each call has its own", async () => {
  const running = await gateway({}, { plugins: COLUMNS });
  await asking(running, { size: 7, team: "red" });
  await asking(running, {});
  await asking(running, { size: 0 });
  const lines = await callLines(running, 3);
  expect(lines.map(({ plugins }) => plugins)).toEqual([
    { "counts.size": 7, "counts.team": "red" },
    undefined,
    { "counts.size": 0 },
  ]);
  expect(faultsIn(running)).toEqual([]);
});

test("a value that does not fit its schema is left out, a long text is cut, and the log says both", async () => {
  const running = await gateway({}, { plugins: COLUMNS });
  const answers = [
    await asking(running, { size: -1, team: "red" }),
    await asking(running, { size: "seven", team: "green", note: "é".repeat(200) }),
    await asking(running, { note: "a\nb" }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const lines = await callLines(running, 3);
  expect(lines.map(({ plugins }) => plugins)).toEqual([
    { "counts.team": "red" },
    { "counts.note": `${"é".repeat(126)}…` },
    { "counts.note": "a\\u000ab" },
  ]);
  const faults = faultsIn(running).join("\n");
  // Once a minute for each column: the second fault of size is not there.
  expect(faults.match(/without its column counts\.size/g)).toHaveLength(1);
  expect(faults).toMatch(/req_\S+ is without its column counts\.team: .*red/);
  expect(faults).toMatch(/its column counts\.note is cut at 256 bytes/);
});

test("a column that is set in done is too late, and the log says so", async () => {
  const running = await gateway({}, { plugins: COLUMNS });
  expect((await ask(running, { body, headers: { "x-late": "yes", "x-values": '{"size":2}' } })).status).toBe(
    200,
  );
  expect((await callLines(running, 1))[0]?.["plugins"]).toEqual({ "counts.size": 2 });
  await until(
    () => running.log.some((line) => line.includes("must be set before done")),
    10_000,
    () => "the log does not say that it is too late",
  );
});

test("a plugin whose columns weir cannot check is not loaded", async () => {
  const faults: Record<string, [columns: string, fault: string]> = {
    plain: ['[{ name: "size" }]', "its columns must be a list of what defineColumn returns"],
    twice: ["[size, size]", 'its columns have the name "size" twice'],
    named: ['[defineColumn({ name: "a b", schema: { type: "string" } })]', 'its columns have the name "a b"'],
    typed: ['[defineColumn({ name: "a", schema: { type: "object" } })]', "the type of its column a must be"],
    worded: [
      '[defineColumn({ name: "a", schema: { type: "string", format: "email" } })]',
      "the schema of its column a has the keyword format, which weir does not check",
    ],
  };
  const plugins = Object.entries(faults).map(([name, [columns]]) => [
    `${name}.js`,
    `import { defineColumn, definePlugin } from "weir";
const size = defineColumn({ name: "size", schema: { type: "integer" } });
export default definePlugin({ name: "${name}", columns: ${columns} });`,
  ]);
  const cwd = await makeFolder({ plugins: Object.fromEntries(plugins) as Record<string, string> });
  const { out, err } = await runCommand(["plugin", "list"], { cwd });
  await rm(cwd, { recursive: true });
  for (const [name, [, fault]] of Object.entries(faults))
    expect((out + err).split("\n").find((line) => line.includes(`${name}.js`))).toContain(fault);
});

test("explanations that fail, are too large or no objects say so, and the others are there", async () => {
  const explaining = (name: string, explain: string) => [
    `${name}.js`,
    `import { definePlugin } from "weir";
export default definePlugin({ name: "${name}", hooks: { ${explain} } });`,
  ];
  const plugins = Object.fromEntries([
    explaining(
      "fine",
      "explain: (call) => ({ sees: call.request?.turns.length ?? call.format, at: call.attempt })",
    ),
    explaining("throws", 'explain() { throw new Error("the secret of the plugin"); }'),
    explaining("large", 'explain: () => ({ text: "x".repeat(20_000) })'),
    explaining("late", "explain: async () => ({})"),
    explaining("text", 'explain: () => "no object"'),
    explaining("quiet", "explain: () => undefined"),
  ]) as Record<string, string>;
  const running = await gateway({}, { plugins });
  const asked = { ...body, messages: [{ role: "user", content: "hi" }] };
  const { text } = await ask(running, { path: "/v1/explain?format=chat-completions", body: asked });
  const failed = (why: string) => ({ error: `its explain hook failed: ${why}` });
  expect((JSON.parse(text) as { plugins: unknown }).plugins).toEqual({
    fine: { sees: 1, at: 0 },
    throws: failed("Error: the log of weir has the details"),
    large: failed("Error: it returned 20011 bytes of JSON, more than 16384"),
    late: failed("Error: it must return an object and no promise"),
    text: failed("Error: it must return an object or undefined"),
  });
  expect(text).not.toContain("the secret of the plugin");
  const embedded = await ask(running, {
    path: "/v1/explain?format=embeddings",
    body: { model: "mock/embed", input: "hi" },
  });
  expect(JSON.parse(embedded.text)).toMatchObject({ plugins: { fine: { sees: "embeddings", at: 0 } } });
  await until(
    () => running.log.some((line) => line.includes("plugin throws: its explain hook failed")),
    10_000,
    () => "the log does not name the plugin",
  );
});

test("a check that throws or returns no findings is a fault of weir check", async () => {
  const checking = (name: string, check: string) => [
    `${name}.js`,
    `import { definePlugin } from "weir";
export default definePlugin({ name: "${name}", ${check} });`,
  ];
  const many = 'Array.from({ length: 23 }, (_, at) => ({ severity: "warning", message: `line ${at}.` }))';
  const plugins = Object.fromEntries([
    checking("throws", 'check() { throw new Error("no file"); }'),
    checking("odd", 'check: () => [{ severity: "info", message: "hi" }]'),
    checking("many", `check: ({ isOffline }) => isOffline ? ${many} : []`),
  ]) as Record<string, string>;
  const cwd = await makeFolder({ plugins });
  const { code, out } = await runCommand(["check", "--offline", "--json"], { cwd });
  await rm(cwd, { recursive: true });
  const { warnings, faults } = JSON.parse(out) as Record<"warnings" | "faults", string[]>;
  expect(code).toBe(1);
  expect(faults).toEqual([
    'plugin odd: its check failed: Error: it must return a list of { severity: "fault" or "warning", message }',
    "plugin throws: its check failed: Error: no file",
  ]);
  const own = warnings.filter((line) => line.startsWith("plugin many: "));
  expect([own.length, own[19], own[20]]).toEqual([
    21,
    "plugin many: line 19.",
    "plugin many: and 3 more findings.",
  ]);
});

test("weir plugin list shows what a plugin adds, under the names that operators see", async () => {
  const plugins = {
    "my-own.js": `import { defineColumn, defineCounter, definePlugin } from "weir";
export default definePlugin({
  name: "my-own",
  section: { schema: { type: "object", properties: {} }, configure: () => ({ hooks: { done() {} } }) },
  columns: [defineColumn({ name: "size", schema: { type: "integer" } })],
  metrics: [defineCounter({ name: "seen_total", help: "Calls." })],
  check: () => [],
});`,
    "the-same.js": `import { defineCounter, definePlugin } from "weir";
export default definePlugin({
  name: "my_own",
  metrics: [defineCounter({ name: "seen_total", help: "Calls." })],
});`,
  };
  const cwd = await makeFolder({ plugins });
  const { code, out, err } = await runCommand(["plugin", "list"], { cwd });
  await rm(cwd, { recursive: true });
  expect(out).toMatch(
    /^my-own +hook done, column my-own\.size, metric weir_plugin_my_own_seen_total, options, check /m,
  );
  expect([code, err]).toEqual([
    1,
    expect.stringContaining(
      "the-same.js: its metric weir_plugin_my_own_seen_total is one of the plugin my-own already",
    ),
  ]);
});
