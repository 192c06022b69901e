/** What is noted on a call: from requests in both lanes, of answers that continue others, and lists of tools once in a while. */
import { expect, test } from "bun:test";
import { type Attempt, Call } from "../../../../core/call.ts";
import { NO_USAGE, type Usage } from "../../../../core/events.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { Incoming } from "../../../../gateway/types.ts";
import { builtInFormats } from "../../../../run/formats.ts";
import { toolSet, toolUse } from "../../columns.ts";
import { noteUnread, ToolNotes } from "../../cost/note.ts";

const FORMATS = new Map(builtInFormats({ systemTurns: "reject" }).map((format) => [format.id, format]));
const tool = (name: string) => ({
  type: "function",
  name,
  description: "It.",
  parameters: { type: "object" },
});

function incoming(format: string, body: JsonObject): Incoming {
  const bytes = Buffer.from(JSON.stringify(body));
  const call = new Call("req_1", format, new Headers());
  const spanOf = (name: string) => {
    if (body[name] === undefined) return undefined;
    const value = JSON.stringify(body[name]);
    const start = bytes.indexOf(`${JSON.stringify(name)}:${value}`) + name.length + 3;
    return { start, end: start + Buffer.byteLength(value) };
  };
  return { call, format: FORMATS.get(format) as Incoming["format"], bytes, body, spanOf };
}

const attemptOf = (usage: Partial<Usage>, lane = "native") =>
  ({
    lane,
    usage: { ...NO_USAGE, ...usage },
    target: { lane, provider: { name: "p", source: "built-in" } },
  }) as Attempt;

function noted(notes: ToolNotes, request: Incoming, usage: Partial<Usage>) {
  const attempt = attemptOf(usage);
  notes.sent(attempt, request);
  notes.record(request.call, [attempt]);
  return { use: toolUse.get(request.call), set: toolSet.get(request.call) };
}

const asking = (more: object = {}) => ({
  model: "m",
  input: "Hi",
  tools: [tool("look"), tool("spare")],
  ...more,
});

test("the list of tools goes with the first call that has it, and its hash with all", () => {
  const notes = new ToolNotes();
  const first = noted(notes, incoming("responses", asking()), { input: 100 });
  const second = noted(notes, incoming("responses", asking()), { input: 100 });
  expect(first.set?.map(([name]) => name)).toEqual(["look", "spare"]);
  expect(second.set).toBeUndefined();
  expect(second.use).toEqual(first.use!);
  expect(first.use!.set).toMatch(/^[0-9a-f]{16}$/);
  const other = noted(notes, incoming("responses", asking({ tools: [tool("look")] })), { input: 100 });
  expect(other.use!.set).not.toBe(first.use!.set);
  expect(other.set).toHaveLength(1);
  // Other workers tell the store by themselves.
  expect(noted(new ToolNotes(), incoming("responses", asking()), { input: 100 }).set).toEqual(first.set!);
});

test("a request that continues an answer of its provider is the end of a longer prompt", () => {
  const whole = noted(new ToolNotes(), incoming("responses", asking()), { input: 10_000 });
  const more = incoming("responses", asking({ previous_response_id: "resp_1" }));
  const part = noted(new ToolNotes(), more, { input: 10_000 });
  expect(whole.use!.bytes).toBeLessThan(200);
  expect(part.use!.bytes).toBe(40_000);
});

test("calls without tools, and calls that a plugin answers, have no note", () => {
  const notes = new ToolNotes();
  expect(noted(notes, incoming("responses", { model: "m", input: "Hi" }), { input: 10 }).use).toBeUndefined();
  const request = incoming("responses", asking());
  const own = attemptOf({}, "generated");
  Object.assign(own.target.provider, { source: "p" });
  own.request = undefined as never;
  notes.record(request.call, [own]);
  expect(toolUse.get(request.call)).toBeUndefined();
});

function fail(): never {
  throw new Error("it is in no words that weir knows");
}

test("what weir cannot read is noted as unread", () => {
  const notes = new ToolNotes();
  const read = incoming("responses", asking());
  const codec = { ...read.format.client.codec, decodeRequest: () => fail() };
  const wrong = { ...read, format: { ...read.format, client: { ...read.format.client, codec } } };
  expect(noted(notes, wrong, { input: 10 }).use).toEqual({ set: "", bytes: 0, unread: true });
  const request = incoming("responses", asking());
  noteUnread(request.call);
  expect(noted(notes, request, { input: 10 }).use).toMatchObject({ unread: true });
});

test("names and lists that clients choose are bounded, and no token is lost", () => {
  const many = Array.from({ length: 2_500 }, (_, index) => tool(`tool_${index}`));
  const long = { ...tool("x".repeat(5_000)), description: "It." };
  const request = incoming("responses", asking({ tools: [long, ...many] }));
  const { use, set } = noted(new ToolNotes(), request, { input: 100_000 });
  expect(set).toHaveLength(2_000);
  expect(set![0]![0]).toBe("x".repeat(128));
  const listed = set!.reduce((sum, [, bytes]) => sum + bytes, 0);
  expect(use!.bytes).toBeGreaterThan(listed + 500 * 20);
});
