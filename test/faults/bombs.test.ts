/** The 100× rule: no request costs the gateway more than a hundred times what it cost its sender. */
import { afterAll, beforeAll } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { type RunningGateway, upstreamConfig } from "../helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { costOf, listenerOf, megabytes, startBinary } from "./armour.ts";
import { goal } from "./goals.ts";

let upstream: Upstream;

beforeAll(() => {
  upstream = startUpstream(json({}));
});

afterAll(() => upstream?.stop());

const SIZE = 12_000_000;
const repeat = (piece: string, size = SIZE) => piece.repeat(Math.floor(size / piece.length));

interface Bomb {
  why: string;
  body: string | Uint8Array;
  headers?: Record<string, string>;
  paths?: readonly string[];
  /** Statuses that are fine. */
  status: readonly number[];
}

const message = '{"role":"user","content":"x"},';
const chat = (inside: string) =>
  `{"model":"openai/m","max_tokens":9,"messages":[{"role":"user","content":"x"}],${inside}}`;

const BOMBS: readonly Bomb[] = [
  { why: "a million brackets", body: chat(`"a":${"[".repeat(1_000_000)}`), status: [400] },
  { why: "much of brackets", body: repeat("["), status: [400] },
  { why: "much of nested objects", body: repeat('{"a":'), status: [400] },
  {
    why: "a million levels, closed",
    body: chat(`"a":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`),
    status: [400],
  },
  { why: "much of numbers", body: chat(`"a":[${repeat("1,")}1]`), status: [200, 400, 502] },
  { why: "much of empty lists", body: chat(`"a":[${repeat("[],")}1]`), status: [200, 400, 502] },
  { why: "much of empty objects", body: chat(`"a":[${repeat("{},")}1]`), status: [200, 400, 502] },
  {
    why: "a million members",
    body: chat(Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(",")),
    status: [400],
  },
  {
    why: "a million members of an inner object",
    body: chat(`"a":{${Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(",")}}`),
    status: [200, 400, 502],
  },
  {
    why: "a million times the same member",
    body: chat(repeat('"k":1,', 7_000_000) + '"k":1'),
    status: [400],
  },
  {
    why: "members that look the same to a hash",
    body: chat(
      Array.from(
        { length: 300_000 },
        (_, index) =>
          `"${index.toString(2).padStart(20, "0").replaceAll("0", "Aa").replaceAll("1", "BB")}":1`,
      ).join(","),
    ),
    status: [400],
  },
  {
    why: "400,000 messages",
    body: `{"model":"openai/m","max_tokens":9,"messages":[${message.repeat(400_000)}{"role":"user","content":"x"}]}`,
    status: [200, 400, 502],
  },
  {
    why: "400,000 messages of a wrong role",
    body: `{"model":"openai/m","max_tokens":9,"messages":[${'{"role":"w","content":"x"},'.repeat(400_000)}{"role":"w","content":"x"}]}`,
    status: [400],
  },
  {
    why: "250,000 tools",
    body: chat(
      `"tools":[${'{"type":"function","function":{"name":"a"}},'.repeat(250_000)}{"type":"function","function":{"name":"a"}}]`,
    ),
    status: [200, 400, 502],
  },
  { why: "one long text", body: chat(`"a":"${"x".repeat(SIZE)}"`), status: [200, 502] },
  { why: "one long text of escapes", body: chat(`"a":"${repeat("\\u0041")}"`), status: [200, 502] },
  { why: "one long text of backslashes", body: chat(`"a":"${repeat("\\\\")}"`), status: [200, 502] },
  { why: "a long text that never ends", body: `{"model":"${"x".repeat(SIZE)}`, status: [400] },
  {
    why: "a very long model name",
    body: `{"model":"${"x".repeat(SIZE)}","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`,
    status: [400],
  },
  { why: "one long number", body: chat(`"a":${"1".repeat(SIZE)}`), status: [200, 400, 502] },
  { why: "much of white space", body: `{${" ".repeat(SIZE)}`, status: [400] },
  { why: "much of four-byte letters", body: chat(`"a":"${repeat("😀", SIZE / 2)}"`), status: [200, 502] },
  {
    why: "a zipped bomb",
    body: gzipSync(new Uint8Array(200_000_000)),
    headers: { "content-encoding": "gzip" },
    status: [413],
  },
  {
    why: "a deflated bomb",
    body: deflateSync(new Uint8Array(200_000_000)),
    headers: { "content-encoding": "deflate" },
    status: [413],
  },
  {
    why: "a brotli bomb",
    body: brotliCompressSync(new Uint8Array(50_000_000)),
    headers: { "content-encoding": "br" },
    status: [413],
  },
  {
    why: "a zstd bomb",
    body: zstdCompressSync(new Uint8Array(200_000_000)),
    headers: { "content-encoding": "zstd" },
    status: [413],
  },
  {
    why: "zipped brackets",
    body: gzipSync(repeat("[", 20_000_000)),
    headers: { "content-encoding": "gzip" },
    status: [400, 413],
  },
];

const PATHS = [
  "/v1/chat/completions",
  "/v1/messages",
  "/v1/explain?format=chat-completions",
  "/v1/messages/count_tokens",
];

/** What a gateway takes whatever it is sent; the rule is about what comes on top (as for Envoy). */
const FREE_MEMORY = 64e6;
const FREE_CPU = 150;

interface Measured {
  why: string;
  path: string;
  status: number;
  bytes: number;
  /** Bytes of memory for each byte sent, and milliseconds of processor time for each megabyte. */
  memory: number;
  cpu: number;
  grown: number;
}

async function measure(gateway: RunningGateway, pid: number, bomb: Bomb, path: string): Promise<Measured> {
  const bytes = Buffer.from(bomb.body as string);
  await Bun.write(`/proc/${pid}/clear_refs`, "5").catch(() => {});
  const before = costOf(pid);
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...bomb.headers },
    body: bytes,
  });
  await response.arrayBuffer();
  // What the fake upstream remembers would soon be gigabytes.
  upstream.requests.length = 0;
  const after = costOf(pid);
  const grown = Math.max(0, after.peak - before.rss);
  const cpu = after.cpu - before.cpu;
  return {
    why: bomb.why,
    path,
    status: response.status,
    bytes: bytes.length,
    memory: Math.max(0, grown - FREE_MEMORY) / bytes.length,
    cpu: Math.max(0, cpu - FREE_CPU) / (bytes.length / 1e6),
    grown,
  };
}

const user = '{"role":"user","content":"x"}';

goal(
  27,
  "100× rule",
  "< 100 bytes of memory a byte, < 100 times the processor time of reading it; alive; no 500",
  async () => {
    const all: Measured[] = [];
    const wrong: string[] = [];
    const gateway = await startBinary({
      config: upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
    });
    try {
      const pid = listenerOf(gateway.port);
      // The sender's own cost of a megabyte: writing it down and sending it, at loopback speed.
      const plain = await measure(gateway, pid, { why: "", body: " ".repeat(SIZE), status: [] }, PATHS[0]!);
      for (const bomb of BOMBS)
        for (const path of PATHS) {
          const seen = await measure(gateway, pid, bomb, path);
          all.push(seen);
          if (!bomb.status.includes(seen.status)) wrong.push(`${bomb.why} ${path}: ${seen.status}`);
        }
      if (listenerOf(gateway.port) !== pid) wrong.push("the process is another");
      const hungry = all.sort((a, b) => b.memory - a.memory)[0]!;
      const busy = [...all].sort((a, b) => b.cpu - a.cpu)[0]!;
      const peak = [...all].sort((a, b) => b.grown - a.grown)[0]!;
      await Bun.sleep(2_000);
      for (const sentence of wrong.slice(0, 12)) console.log(sentence);
      // A client needs some 2 ms to make and send a megabyte; a packed one is made once and sent for nothing.
      return {
        measured: `${BOMBS.length} bodies × ${PATHS.length} endpoints: worst memory ${hungry.memory.toFixed(1)}× (${hungry.why}), most ${megabytes(peak.grown)} for ${megabytes(peak.bytes)} (${peak.why}, ${peak.path}), worst processor time ${busy.cpu.toFixed(0)} ms a MB (${busy.why}, ${busy.path}; a plain body ${plain.cpu.toFixed(1)}); resident ${megabytes(costOf(pid).rss)} after; ${wrong.length} wrong answers`,
        holds: wrong.length === 0 && hungry.memory < 100,
        inTime: busy.cpu < 200,
      };
    } finally {
      await gateway.stop();
    }
  },
  600_000,
);

const LONG_NAMES = 10;
const LONG_NAME = 8_000_000;

goal(
  54,
  "model names of 8 MB",
  `${LONG_NAMES} calls: all 400 on \`model\`; resident memory ≤ 100 MB above idle right after them`,
  async () => {
    const gateway = await startBinary({ config: upstreamConfig({ openai: upstream.url }) });
    try {
      const pid = listenerOf(gateway.port);
      const before = costOf(pid);
      const params: string[] = [];
      for (let call = 0; call < LONG_NAMES; call++) {
        const response = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: `{"model":"${String.fromCharCode(97 + call).repeat(LONG_NAME)}","messages":[${user}]}`,
        });
        const { error } = (await response.json()) as { error: { param: string } };
        if (response.status === 400) params.push(error.param);
      }
      const after = costOf(pid);
      const grown = after.rss - before.rss;
      return {
        measured: `${params.filter((param) => param === "model").length} of ${LONG_NAMES} are 400 on model; resident ${megabytes(before.rss)} → ${megabytes(after.rss)}, at most ${megabytes(after.peak)}`,
        holds: params.length === LONG_NAMES && params.every((param) => param === "model") && grown < 1e9,
        inTime: grown <= 100e6,
      };
    } finally {
      await gateway.stop();
    }
  },
);

/** A list of so many of these in a request, by the route that must translate it. */
const LISTS: Record<string, { path: string; model: string; body(count: number): string }> = {
  "tools of one name": translated(
    "anthropic",
    (n) => `"messages":[${user}],"tools":[${list(n, () => '{"type":"function","function":{"name":"a"}}')}]`,
  ),
  "tools of odd names": translated(
    "anthropic",
    (n) =>
      `"messages":[${user}],"tools":[${list(n, (at) => `{"type":"function","function":{"name":"é ${at}"}}`)}]`,
  ),
  "tools of one name, the other way": translated(
    "openai",
    (n) => `"messages":[${user}],"tools":[${list(n, () => '{"name":"a","input_schema":{"type":"object"}}')}]`,
  ),
  parts: translated(
    "anthropic",
    (n) => `"messages":[{"role":"user","content":[${list(n, () => '{"type":"text","text":"x"}')}]}]`,
  ),
  "unknown parts": translated(
    "openai",
    (n) => `"messages":[{"role":"user","content":[${list(n, (at) => `{"type":"odd${at}"}`)}]}]`,
  ),
  "system turns": translated(
    "anthropic",
    (n) => `"messages":[${user},${list(n, () => '{"role":"system","content":"x"}')},${user}]`,
  ),
  turns: translated(
    "anthropic",
    (n) => `"messages":[${list(n, () => `${user},{"role":"system","content":"x"}`)}]`,
  ),
  "calls of one turn": translated(
    "anthropic",
    (n) =>
      `"messages":[${user},{"role":"assistant","content":null,"tool_calls":[${list(n, (at) => `{"id":"c${at}","type":"function","function":{"name":"f${at}","arguments":"{}"}}`)}]},${list(n, (at) => `{"role":"tool","tool_call_id":"c${n - 1 - at}","content":"r"}`)}]`,
  ),
  "calls with one id": translated(
    "anthropic",
    (n) =>
      `"messages":[${user},{"role":"assistant","content":null,"tool_calls":[${list(n, () => '{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}')}]},${list(n, () => '{"role":"tool","tool_call_id":"c","content":"r"}')}]`,
  ),
  "results by name": translated(
    "anthropic",
    (n) =>
      `"messages":[${user},{"role":"assistant","content":null,"tool_calls":[${list(n, (at) => `{"id":"c${at}","type":"function","function":{"name":"f${at}","arguments":"{}"}}`)}]},${list(n, (at) => `{"role":"function","name":"f${n - 1 - at}","content":"r"}`)}]`,
  ),
  "results of no call": translated(
    "openai",
    (n) =>
      `"messages":[{"role":"user","content":[${list(n, (at) => `{"type":"tool_result","tool_use_id":"c${at}","content":"r"}`)}]}]`,
  ),
  "stop sequences": translated(
    "openai",
    (n) => `"messages":[${user}],"stop_sequences":[${list(n, (at) => `"s${at}"`)}]`,
  ),
};

function list(count: number, piece: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => piece(at)).join(",");
}

function translated(to: "openai" | "anthropic", inside: (count: number) => string) {
  return {
    path: to === "openai" ? "/v1/messages" : "/v1/chat/completions",
    model: `${to}/m`,
    body: (count: number) => `{"model":"${to}/m","max_tokens":9,${inside(count)}}`,
  };
}

goal(
  27,
  "no list costs the square of its length",
  "20,000 entries take less than 2 s of processor time, translated",
  async () => {
    const gateway = await startBinary({
      config: upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
    });
    try {
      const pid = listenerOf(gateway.port);
      const times: [what: string, ms: number][] = [];
      for (const [what, { path, body }] of Object.entries(LISTS)) {
        const before = costOf(pid).cpu;
        const response = await fetch(gateway.url + path, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: body(20_000),
        });
        await response.arrayBuffer();
        times.push([what, costOf(pid).cpu - before]);
      }
      const [slowest] = times.sort((a, b) => b[1] - a[1]);
      return {
        measured: `${times.length} kinds of lists, the slowest ${slowest![0]} with ${slowest![1]} ms`,
        holds: slowest![1] < 20_000,
        inTime: slowest![1] < 2_000,
      };
    } finally {
      await gateway.stop();
    }
  },
);
