/** Plugins that do everything wrong: named in the log, and nobody else's business. */
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type RunningGateway } from "../helpers/gateway.ts";
import { until } from "../helpers/upstream.ts";
import { buildBinary, listenerOf, startBinary } from "./armour.ts";
import { goal } from "./goals.ts";
import { streamedText } from "../helpers/streamed.ts";

const BINARY = resolve(import.meta.dir, "../../dist/weir");

/** What a plugin says in anger; only the log may have it. */
const CANARY = "plugin-canary-5a1e";

const PROVIDER = (name: string) => `import { definePlugin } from "weir";
  export default definePlugin({ name: "${name}", providers: [{ name: "${name}", async *generate() {} }] });`;

/** Files that are wrong before any call. */
const AT_LOAD: Record<string, { text: string; says: RegExp }> = {
  "throws.ts": { text: `throw new Error("at the top");`, says: /throws\.ts:1:\d+: at the top/ },
  "syntax.ts": { text: `export default {`, says: /syntax\.ts:1:\d+: .*end of file/i },
  "loops.ts": { text: `for (;;);`, says: /loops\.ts: did not finish loading within 1 s/ },
  "waits.ts": { text: `await new Promise(() => {});`, says: /waits\.ts: did not finish loading within 1 s/ },
  "exits.ts": { text: `process.exit(0);`, says: /exits\.ts: ends the process .* exit code 0/ },
  "exits-soon.ts": {
    text: `setImmediate(() => process.exit(7)); export default { name: "x" };`,
    says: /exits-soon\.ts: ends the process .* exit code 7/,
  },
  "kills.ts": {
    text: `process.kill(process.pid, "SIGKILL");`,
    says: /kills\.ts: ends the process .* by SIGKILL/,
  },
  "aborts.ts": { text: `process.abort();`, says: /aborts\.ts: ends the process .* by SIG/ },
  "empty.ts": { text: ``, says: /empty\.ts: has no default export/ },
  "nameless.ts": { text: `export default {};`, says: /nameless\.ts: its default export has no name/ },
  "listless.ts": {
    text: `export default { name: "a", providers: 3 };`,
    says: /listless\.ts: its providers must be a list/,
  },
  "hookless.ts": {
    text: `export default { name: "a", hooks: { done: 3 } };`,
    says: /hookless\.ts: its hook done must be a function/,
  },
  "imports.ts": {
    text: `import "no-such-package"; export default { name: "a" };`,
    says: /imports\.ts.*no-such-package/,
  },
  "speechless.ts": {
    text: `export default { name: "a", providers: [{ name: "speechless" }] };`,
    says: /speechless\.ts: provider "speechless": it must speak a format, generate or embed/,
  },
  "twin.ts": {
    text: PROVIDER("good"),
    says: /twin\.ts: the provider "good" is already declared by .*good\.ts/,
  },
};

/** A provider whose every model is another way to fail, by the model's name. */
const FAILING = `import { definePlugin, NO_USAGE } from "weir";
  const start = { type: "message-start", id: "x", model: "x" };
  const open = { type: "block-start", index: 0, block: { type: "text" } };
  const text = (delta) => ({ type: "block-delta", index: 0, delta });
  const end = { type: "message-end", reason: { kind: "stop" }, usage: NO_USAGE };
  const list = (...events) => (async function* () { yield* events; })();
  const late = () => { Promise.reject(new Error("${CANARY} late")); return list(start, open, text("fine"), { type: "block-end", index: 0 }, end); };
  const ways = {
    "throws": () => { throw new Error("${CANARY}"); },
    "throws-text": () => { throw "${CANARY}"; },
    "throws-nothing": () => { throw undefined; },
    "throws-monster": () => { throw { toString() { throw new Error("${CANARY}"); } }; },
    "rejects": async function* () { throw new Error("${CANARY}"); },
    "breaks": async function* () { yield start; yield open; yield text("half"); throw new Error("${CANARY}"); },
    "gives-nothing": () => undefined,
    "gives-a-promise": () => Promise.resolve([]),
    "gives-a-number": () => 7,
    "odd-iterator": () => ({ [Symbol.asyncIterator]: () => ({ next: () => undefined, return: () => 3 }) }),
    "null-event": () => list(start, null),
    "unknown-event": () => list(start, { type: "${CANARY}-event" }),
    "no-start": () => list(open, text("x")),
    "two-starts": () => list(start, start),
    "closed-block": () => list(start, text("x")),
    "wrong-index": () => list(start, { ...open, index: 7 }),
    "overlap": () => list(start, open, { ...open, index: 1 }),
    "unknown-block": () => list(start, { ...open, block: { type: "poem" } }),
    "number-delta": () => list(start, open, text(7)),
    "open-end": () => list(start, open, text("x"), end),
    "no-reason": () => list(start, { type: "message-end", usage: NO_USAGE }),
    "no-usage": () => list(start, { type: "message-end", reason: { kind: "stop" } }),
    "bad-usage": () => list(start, { ...end, usage: { ...NO_USAGE, output: "many" } }),
    "no-end": () => list(start, open, text("x"), { type: "block-end", index: 0 }),
    "silent": async function* () { await new Promise(() => {}); },
    "stalls": async function* () { yield start; yield open; await new Promise(() => {}); },
    "endless": async function* () { yield start; yield open; for (;;) yield text("x".repeat(1000)); },
    "exit": () => process.exit(1),
    "abort": () => process.abort(),
    "kill": () => process.kill(process.pid, "SIGKILL"),
    "kill-group": () => process.kill(0, "SIGKILL"),
    "really-exit": () => process.reallyExit(1),
    "execve": () => process.execve("/bin/true", ["true"], {}),
    "exit-later": () => { setTimeout(() => process.exit(1), 5); return late(); },
    "exit-bare": () => { setTimeout(process.exit, 5); return late(); },
    "late": late,
    "throw-later": () => { setTimeout(() => { throw new Error("${CANARY} later"); }, 5); return late(); },
    "behind-the-end": async function* () { yield* late(); for (;;) yield text("never"); },
  };
  export default definePlugin({ name: "failing", providers: [{
    name: "failing",
    generate: (request, call) => ways[call.target.model](),
    catalog: Object.keys(ways),
  }] });`;

/** Ways after which the answer is whole all the same. */
const HARMLESS = new Set(["exit-later", "exit-bare", "late", "throw-later", "behind-the-end"]);

/** Hooks that fail in the way a header names; the others' calls carry none. */
const HOOKS = `import { definePlugin } from "weir";
  const never = () => new Promise(() => {});
  const wants = (call, what) => call.headers.get("x-fault") === what;
  export default definePlugin({ name: "hooked", hooks: {
    admit(call) {
      if (wants(call, "admit-throws")) throw new Error("${CANARY}");
      if (wants(call, "admit-rejects")) return Promise.reject(new Error("${CANARY}"));
      if (wants(call, "admit-hangs")) return never();
      if (wants(call, "admit-names-a-header-of-weir")) call.addHeader("x-weir-model", "${CANARY}");
    },
    intercept(call) {
      if (wants(call, "intercept-throws")) throw new Error("${CANARY}");
      if (wants(call, "intercept-rejects")) return Promise.reject(new Error("${CANARY}"));
      if (wants(call, "intercept-hangs")) return never();
      if (wants(call, "intercept-gives-a-number")) return 7;
      if (wants(call, "intercept-answers-a-number")) return { answer: 7 };
      if (wants(call, "intercept-answers-odd-events")) return { answer: [7] };
      if (wants(call, "intercept-answers-nothing")) return { answer: [] };
      if (wants(call, "intercept-breaks")) return { answer: (async function* () { throw new Error("${CANARY}"); })() };
      if (wants(call, "intercept-asks-nothing")) return call.ask({}).then(() => ({ answer: "never" }));
      if (wants(call, "intercept-asks-and-hangs")) return call.ask({ model: "failing/silent", prompt: "go" }).then(never);
    },
    request(request, call) {
      if (wants(call, "request-throws")) throw new Error("${CANARY}");
      if (wants(call, "request-rejects")) return Promise.reject(new Error("${CANARY}"));
      if (wants(call, "request-hangs")) return never();
    },
    answer(events, call) {
      if (wants(call, "answer-throws")) throw new Error("${CANARY}");
      if (wants(call, "answer-gives-nothing")) return undefined;
      if (wants(call, "answer-breaks")) return (async function* () { for await (const event of events) { yield event; throw new Error("${CANARY}"); } })();
      if (wants(call, "answer-garbles")) return (async function* () { for await (const event of events) yield { ...event, index: 9 }; })();
      if (wants(call, "answer-hangs")) return (async function* () { await never(); })();
      return events;
    },
    observe(event, call) {
      if (wants(call, "observe-throws")) throw new Error("${CANARY}");
      if (wants(call, "observe-rejects")) return Promise.reject(new Error("${CANARY}"));
    },
    done(call) {
      if (wants(call, "done-throws")) throw new Error("${CANARY}");
      if (wants(call, "done-rejects")) return Promise.reject(new Error("${CANARY}"));
      if (wants(call, "done-hangs")) return never();
    },
  } });`;

const HOOK_FAULTS = [...HOOKS.matchAll(/wants\(call, "([a-z-]+)"\)/g)].map((match) => match[1]!);
const FAILING_WAYS = [...FAILING.matchAll(/^ {4}"([a-z-]+)": /gm)].map((match) => match[1]!);

const GOOD = `import { definePlugin, NO_USAGE } from "weir";
  export default definePlugin({ name: "good", providers: [{ name: "good", async *generate() {
    yield { type: "message-start", id: "good", model: "good" };
    yield { type: "block-start", index: 0, block: { type: "text" } };
    yield { type: "block-delta", index: 0, delta: "all is well" };
    yield { type: "block-end", index: 0 };
    yield { type: "message-end", reason: { kind: "stop" }, usage: { ...NO_USAGE, output: 3 } };
  } }] });`;

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startBinary({
    config: {
      plugins: { loadMs: 1000, strict: false },
      timeouts: { firstByteMs: 1500, gapMs: 1500, holdMs: 700, heartbeatMs: 700, totalMs: 4000 },
    },
    plugins: {
      "good.ts": GOOD,
      "failing.ts": FAILING,
      "hooked.ts": HOOKS,
      ...Object.fromEntries(Object.entries(AT_LOAD).map(([file, { text }]) => [file, text])),
    },
  });
}, 600_000);

afterAll(() => gateway?.stop());

const ROUTES = ["/v1/chat/completions", "/v1/messages"] as const;

function ask(
  path: string,
  model: string,
  stream: boolean,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({
      model,
      stream,
      max_tokens: 99,
      messages: [{ role: "user", content: "all is well" }],
    }),
  });
}

/** An error event of either dialect. */
const ERROR_EVENT = /data: \{(?:"type":"error",)?"error":/;

/**
 * As `ask` for a stream, over a socket of its own: when a body breaks, `fetch` may drop what came before and was not read, so a
 * busy test would miss the error event.
 */
function askStream(path: string, model: string, headers: Record<string, string>): Promise<Response> {
  const messages = [{ role: "user", content: "all is well" }];
  const body = JSON.stringify({ model, stream: true, max_tokens: 99, messages });
  const lines = Object.entries({
    ...{ host: "127.0.0.1", connection: "close", "content-type": "application/json" },
    ...{ "content-length": String(body.length), ...headers },
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const { promise, resolve } = Promise.withResolvers<Response>();
  const pieces: Buffer[] = [];
  const socket = connect(gateway.port, "127.0.0.1");
  socket.on("data", (piece: Buffer) => {
    pieces.push(piece);
    if (ERROR_EVENT.test(Buffer.concat(pieces.slice(-2)).toString())) socket.destroy();
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(readAnswer(Buffer.concat(pieces).toString())));
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  return promise;
}

/** An answer as it came over the socket. */
function readAnswer(text: string): Response {
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  const rest = text.slice(end + 4);
  const isChunked = headers.get("transfer-encoding") === "chunked";
  const body = isChunked ? rest.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, "") : rest;
  return new Response(body, { status: Number(first.slice(9, 12)), headers });
}

/** Whether a whole answer came, or an error in the dialect of the route; anything else is told. */
async function judge(path: string, response: Response, stream: boolean): Promise<"whole" | "error" | string> {
  const text = await streamedText(response);
  if (text.includes(CANARY)) return `the canary in ${text.slice(0, 200)}`;
  if (stream && response.status === 200) {
    if (text.includes("data: [DONE]") || text.includes("event: message_stop")) return "whole";
    return /"error":/.test(text) ? "error" : `neither end nor error: ${text.slice(-200)}`;
  }
  const body = JSON.parse(text) as { error?: { message?: unknown } };
  if (response.status === 200) return "whole";
  return typeof body.error?.message === "string" && response.headers.has("x-request-id") ? "error" : text;
}

test("what is wrong at loading is named, each by its file, and the rest is loaded", async () => {
  const log = gateway.log.join("\n");
  for (const [file, { says }] of Object.entries(AT_LOAD))
    expect([file, log]).toEqual([file, expect.stringMatching(says)]);
  expect(log).not.toContain("good.ts: ");
  for (const path of ROUTES) expect(await (await ask(path, "good/x", false)).text()).toContain("all is well");
});

goal(
  22,
  "plugin faults contained",
  "process alive after all; other providers 100 % OK; nothing of the plugin reaches a client",
  async () => {
    const pid = listenerOf(gateway.port);
    const wrong: string[] = [];
    let over = false;
    let good = 0;
    const goodTraffic = (async () => {
      while (!over) {
        for (const model of ["mock/echo", "good/x"]) {
          const text = await (await ask(ROUTES[good % 2]!, model, good % 3 === 0)).text();
          if (!text.replaceAll(/[^a-z ]/g, "").includes("well"))
            wrong.push(`good call: ${text.slice(0, 200)}`);
          good++;
        }
        await Bun.sleep(5);
      }
    })();
    const faults = [
      ...FAILING_WAYS.map((way) => ({
        what: way,
        model: `failing/${way}`,
        headers: {},
        whole: HARMLESS.has(way),
      })),
      ...HOOK_FAULTS.map((what) => ({
        what,
        model: "mock/echo",
        headers: { "x-fault": what },
        whole: /^(observe|done)/.test(what),
      })),
    ];
    let calls = 0;
    const attack = async ({ what, model, headers, whole }: (typeof faults)[number]) => {
      for (const path of ROUTES)
        for (const stream of [false, true]) {
          calls++;
          const answer = stream ? askStream(path, model, headers) : ask(path, model, stream, headers);
          const seen = await judge(path, await answer, stream);
          if (seen !== (whole ? "whole" : "error")) wrong.push(`${what} ${path} ${stream}: ${seen}`);
        }
    };
    await Promise.all(faults.map(attack));
    await Bun.sleep(100);
    over = true;
    await goodTraffic;
    const alive = listenerOf(gateway.port) === pid;
    const log = gateway.log.join("\n");
    const named = [
      "provider failing failed",
      ...["admit", "intercept", "request", "answer", "observe", "done"].map(
        (hook) => `plugin hooked: its ${hook} hook`,
      ),
    ];
    for (const name of named) if (!log.includes(name)) wrong.push(`not in the log: ${name}`);
    if (!/unhandled rejection \(plugin failing, .*failing\.ts\)/.test(log))
      wrong.push("the late rejection is not named");
    for (const sentence of wrong.slice(0, 10)) console.log(sentence);
    return {
      measured: `${Object.keys(AT_LOAD).length} files wrong at loading, ${faults.length} ways to fail in a call: ${calls} calls beside ${good} good ones; ${wrong.length} wrong, process ${alive ? "alive" : "dead"}`,
      holds: wrong.length === 0 && alive && good > 50,
    };
  },
  600_000,
);

test("each loaded file is in the log with its digest", () => {
  for (const [name, text] of [
    ["good", GOOD],
    ["failing", FAILING],
    ["hooked", HOOKS],
  ] as const) {
    const digest = new Bun.CryptoHasher("sha256").update(text).digest("hex");
    const line = gateway.log.find((candidate) => candidate.includes(`plugin ${name} is loaded`));
    expect(line).toContain(digest);
  }
});

test("an edited plugin is taken at a reload, and one that became broken leaves the gateway as it was", async () => {
  const own = await startBinary({ plugins: { "good.ts": GOOD } });
  const file = join(own.folder, "plugins/good.ts");
  const says = async () => {
    const body = JSON.stringify({ model: "good/x", messages: [{ role: "user", content: "hi" }] });
    const headers = { "content-type": "application/json" };
    return (await fetch(`${own.url}/v1/chat/completions`, { method: "POST", headers, body })).text();
  };
  const reload = async (text: string, line: RegExp) => {
    writeFileSync(file, text);
    const before = own.log.length;
    process.kill(listenerOf(own.port), "SIGHUP");
    const seen = () => own.log.slice(before).some((entry) => line.test(entry));
    await until(seen, 8_000, () => `no line of the log is like ${line}`);
  };
  try {
    expect(await says()).toContain("all is well");
    await reload(GOOD.replace("all is well", "all is better"), /configuration was reloaded/);
    expect(await says()).toContain("all is better");
    await reload("for (;;);", /good\.ts/);
    expect(await says()).toContain("all is better");
  } finally {
    await own.stop();
  }
}, 600_000);

/** `weir plugin list` in a folder with such files. */
function list(plugins: Record<string, string>, prepare: (folder: string) => void = () => {}, config = "") {
  const folder = mkdtempSync(join(tmpdir(), "weir-plugins-"));
  mkdirSync(join(folder, "plugins"));
  for (const [name, text] of Object.entries(plugins)) writeFileSync(join(folder, "plugins", name), text);
  writeFileSync(join(folder, "weir.yaml"), config);
  prepare(join(folder, "plugins"));
  buildBinary();
  const run = (...args: string[]) => {
    const { stdout, stderr, exitCode } = Bun.spawnSync([BINARY, ...args], { cwd: folder });
    return { out: stdout.toString(), err: stderr.toString(), code: exitCode };
  };
  return { run, folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

test("files and folders others can write are refused, and what is no file in the folder", () => {
  const cases: [why: RegExp, prepare: (dir: string) => void][] = [
    [/can be written by its group; run chmod g-w good\.ts/, (dir) => chmodSync(join(dir, "good.ts"), 0o664)],
    [/can be written by everyone; run chmod o-w good\.ts/, (dir) => chmodSync(join(dir, "good.ts"), 0o646)],
    [/the folder can be written by everyone; run chmod o-w plugins/, (dir) => chmodSync(dir, 0o757)],
    [/the folder can be written by its group/, (dir) => chmodSync(dir, 0o775)],
    [
      /to a file outside the plugin folder/,
      (dir) => {
        rmSync(join(dir, "good.ts"));
        writeFileSync(join(dir, "../outside.ts"), GOOD);
        symlinkSync("../outside.ts", join(dir, "good.ts"));
      },
    ],
    [
      /is not a regular file/,
      (dir) => {
        rmSync(join(dir, "good.ts"));
        mkdirSync(join(dir, "good.ts"));
      },
    ],
  ];
  for (const [why, prepare] of cases) {
    const { run, remove } = list({ "good.ts": GOOD }, prepare);
    const { err, out, code } = run("plugin", "list");
    expect(err).toMatch(why);
    expect(out).not.toContain("provider good");
    expect(code).toBe(1);
    remove();
  }
});

test("what a user's own group can write is the user's own", () => {
  if (process.getuid?.() !== 0) return expect(process.getuid?.()).not.toBe(0);
  const listAs = (gid: number) => {
    const { folder, remove } = list({ "good.ts": GOOD }, (dir) => {
      for (const path of [join(dir, ".."), dir, join(dir, "good.ts")]) {
        chownSync(path, 65532, gid);
        chmodSync(path, 0o775);
      }
    });
    const nobody = ["setpriv", "--reuid=65532", "--regid=65532", "--clear-groups", "--"];
    const { stdout } = Bun.spawnSync([...nobody, BINARY, "plugin", "list"], { cwd: folder });
    remove();
    return stdout.toString();
  };
  expect(listAs(65532)).toContain("provider good");
  expect(listAs(1)).not.toContain("provider good");
});

test("with plugins.allow only files with a listed digest are run; with plugins.strict a broken one stops the start", () => {
  const digest = new Bun.CryptoHasher("sha256").update(GOOD).digest("hex");
  const allowed = list(
    { "good.ts": GOOD, "other.ts": "process.exit(1)" },
    undefined,
    `plugins: {allow: [${digest}]}`,
  );
  const listed = allowed.run("plugin", "list");
  expect(listed.out).toContain("provider good");
  expect(listed.err).toMatch(/other\.ts: is not one of plugins\.allow; its SHA-256 is [0-9a-f]{64}/);
  allowed.remove();
  const strict = list({ "bad.ts": "throw 1" }, undefined, "plugins: {strict: true}");
  const served = strict.run("serve", "--port", "0");
  expect([served.code, served.err]).toEqual([1, expect.stringContaining("plugins.strict: ")]);
  strict.remove();
});
