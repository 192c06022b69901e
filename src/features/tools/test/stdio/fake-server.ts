/**
 * A server for tests that speaks over its standard input and output. Its arguments say what is wrong with it, and the names of its tools
 * what it does:
 *
 *     bun fake-server.ts [modern] [dual] [mute] [banner] [picky] [dies] [stays] [deaf]
 */
import { isObject, type Json, type JsonObject } from "../../../../core/json.ts";

const is = new Set(process.argv.slice(2));
const MODERN = "2026-07-28";

const write = (text: string | Uint8Array) => void process.stdout.write(text);
const send = (message: object) => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const notify = (method: string, params: object) => send({ method, params });
const text = (said: string) => ({ content: [{ type: "text", text: said }] });

/** Answers of the client, by the ids of this server's requests. */
const asked = new Map<Json, (answer: JsonObject) => void>();
const cancelled: Json[] = [];
let calls = 0;

function ask(method: string, params: object): Promise<JsonObject> {
  const { promise, resolve } = Promise.withResolvers<JsonObject>();
  const id = asked.size;
  asked.set(id, resolve);
  send({ id, method, params });
  return promise;
}

type Tool = (
  id: Json,
  given: JsonObject,
  params: JsonObject,
) => object | undefined | Promise<object | undefined>;

const TOOLS: Record<string, Tool> = {
  echo: (_, { said }) => text(String(said)),
  async slow(_, { ms, said }) {
    await Bun.sleep(Number(ms));
    return text(String(said));
  },
  never: () => undefined,
  env: () => text(JSON.stringify(process.env)),
  args: () => text(JSON.stringify(process.argv.slice(2))),
  cwd: () => text(process.cwd()),
  pid: () => text(String(process.pid)),
  params: (_, __, params) => text(JSON.stringify(params)),
  cancelled: () => text(JSON.stringify(cancelled)),
  calls: () => text(String(calls)),
  async progress(_, { values }, params) {
    const token = (params["_meta"] as JsonObject | undefined)?.["progressToken"] ?? "none";
    for (const progress of values as number[])
      notify("notifications/progress", { progressToken: token, progress });
    notify("notifications/progress", { progressToken: "somebody else's", progress: 1 });
    await Bun.sleep(20);
    return text(String(token));
  },
  async afterwards(id, _, params) {
    const token = (params["_meta"] as JsonObject)["progressToken"];
    send({ id, result: text("done") });
    notify("notifications/progress", { progressToken: token, progress: 9 });
    return undefined;
  },
  log(_, { level, data }) {
    notify("notifications/message", { level: level as string, data });
    return text("logged");
  },
  async ask(_, { method, params }) {
    return text(JSON.stringify(await ask(String(method), params as JsonObject)));
  },
  changed() {
    notify("notifications/tools/list_changed", {});
    return text("changed");
  },
  fails: (id) => void send({ id, error: { code: -32602, message: "no", data: { at: 1 } } }),
  wrong: (id) => void send({ id, result: "a text" }),
  die: (_, { code }) => process.exit(Number(code)),
  killed: () => void process.kill(process.pid, "SIGKILL"),
  closes: () => {
    require("node:fs").closeSync(1);
    return undefined;
  },
  big: (id, { bytes }) => void send({ id, result: text("x".repeat(Number(bytes))) }),
  deep: (id, { depth }) =>
    write(
      `{"jsonrpc":"2.0","result":{"a":${"[".repeat(Number(depth))}${"]".repeat(Number(depth))}},"id":${id}}\n`,
    ),
  many: (id, { values }) =>
    write(`{"jsonrpc":"2.0","result":{"a":[${"{},".repeat(Number(values))}0]},"id":${id}}\n`),
  invalid(_, { lines }) {
    for (let at = 0; at < Number(lines); at++) write(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d, 0x0a]));
    return text("said");
  },
  other(_, { lines }) {
    for (let at = 0; at < Number(lines); at++) write("no message, key sk-abcdefghijklmnop\n");
    return text("said");
  },
  /** Notifications without end, or a number of them. */
  async flood(_, { count = Infinity, bytes = 10 }) {
    const line = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/x", params: { t: "x".repeat(Number(bytes)) } })}\n`;
    const many = line.repeat(Math.max(1, Math.floor(65_536 / line.length)));
    const times = Number(count) / Math.max(1, Math.floor(65_536 / line.length));
    for (let at = 0; at < times; at++)
      if (!process.stdout.write(many)) await new Promise((drained) => process.stdout.once("drain", drained));
    return text("flooded");
  },
  /** One line without end. */
  async endless() {
    for (;;)
      if (!process.stdout.write("x".repeat(65_536)))
        await new Promise((drained) => process.stdout.once("drain", drained));
  },
  async errors(_, { bytes }) {
    for (let left = Number(bytes); left > 0; left -= 1000) process.stderr.write(`${"e".repeat(999)}\n`);
    process.stderr.write("the last words\n");
    await Bun.sleep(50);
    return text("wrote");
  },
  /** Starts programs that outlive it unless they are ended. */
  fork() {
    const pids = ["sleep 600", "sleep 600 & sleep 600 & wait", "trap '' TERM; sleep 600; sleep 600"].map(
      (script) => Bun.spawn(["sh", "-c", script], { stdio: ["ignore", "inherit", "ignore"] }).pid,
    );
    return text(JSON.stringify(pids));
  },
};

const lists: Record<string, JsonObject> = {
  "tools/list": { tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: "object" } })) },
};

async function answer(id: Json, method: string, params: JsonObject): Promise<void> {
  const isModern = is.has("modern") || is.has("dual");
  if (method === "server/discover") {
    if (is.has("mute")) return;
    if (is.has("picky")) process.exit(3);
    if (is.has("late")) await Bun.sleep(600);
    const versions = is.has("future") ? ["2027-01-01"] : [MODERN];
    if (is.has("future"))
      return send({ id, error: { code: -32022, message: "unsupported", data: { supported: versions } } });
    if (isModern)
      return send({
        id,
        result: {
          ...{
            supportedVersions: versions,
            capabilities: { tools: { listChanged: true } },
            instructions: "ask me",
          },
          ...{
            resultType: "complete",
            _meta: { "io.modelcontextprotocol/serverInfo": { name: "fake", version: "2" } },
          },
        },
      });
    return send({ id, error: { code: -32601, message: "Method not found" } });
  }
  if (method === "initialize") {
    if (is.has("modern"))
      return send({ id, error: { code: -32022, message: "no", data: { supported: [MODERN] } } });
    return send({
      id,
      result: {
        ...{
          protocolVersion: is.has("old") ? "2024-11-05" : "2025-11-25",
          capabilities: { tools: {}, logging: {} },
        },
        ...{ serverInfo: { name: "fake", version: "1" }, instructions: "ask me" },
        _meta: { saw: params },
      },
    });
  }
  if (method === "ping") return send({ id, result: {} });
  if (method === "subscriptions/listen") {
    const meta = { "io.modelcontextprotocol/subscriptionId": id };
    notify("notifications/subscriptions/acknowledged", {
      _meta: meta,
      notifications: params["notifications"],
    });
    notify("notifications/tools/list_changed", { _meta: meta });
    return;
  }
  if (method === "tools/call") {
    calls++;
    const tool = TOOLS[String(params["name"])];
    const result = await tool?.(id, (params["arguments"] ?? {}) as JsonObject, params);
    if (result) send({ id, result });
    return;
  }
  const list = lists[method];
  send(list ? { id, result: list } : { id, error: { code: -32601, message: "Method not found" } });
}

function take(message: JsonObject): void {
  const { id, method, params, ...rest } = message;
  if (typeof method !== "string") return asked.get(id ?? null)?.(rest);
  if (method === "notifications/cancelled") cancelled.push((params as JsonObject)["requestId"] ?? null);
  if (id !== undefined) void answer(id, method, isObject(params) ? params : {});
}

if (is.has("banner")) write("Fake server 1.0\n\n  \nlistening on stdin\n");
if (is.has("dies")) {
  process.stderr.write("I have no heart\n");
  process.exit(7);
}
if (is.has("stays")) {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1000);
}
if (is.has("deaf")) await Bun.sleep(600_000);

let held = "";
const decoder = new TextDecoder();
for await (const piece of Bun.stdin.stream()) {
  const lines = (held + decoder.decode(piece, { stream: true })).split("\n");
  held = lines.pop() ?? "";
  for (const line of lines) if (line) take(JSON.parse(line) as JsonObject);
}
