/** Values in arguments of tools, which are JSON within JSON: whatever a value has in it, arguments stay JSON. */
import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { Call } from "../../../core/call.ts";
import type { JsonObject } from "../../../core/json.ts";
import { places } from "../../../formats/chat-completions/client/places.ts";
import { Guard } from "../guard.ts";
import { Channel, type Holder } from "../pass/channel.ts";
import { Output } from "../pass/output.ts";
import type { Passing } from "../pass/passing.ts";
import { guardRequest } from "../pass/request.ts";
import { CallMap } from "../replace/call-map.ts";
import { Verdicts } from "../verdicts.ts";

setDefaultTimeout(60_000);

const SECRET = new Uint8Array(32);
const GUARD = new Guard({
  name: "pii",
  find: ["email", { name: "badge", pattern: "<<[^<>]{1,40}>>", longest: 44 }],
  do: "replace",
});

function passingOf(guard: Guard): Passing {
  const call = new Call("req_1", "chat-completions", new Headers());
  const verdicts = new Verdicts([guard], call, SECRET);
  const passing = { guards: [guard], map: new CallMap(SECRET), verdicts, refusesUnread: false, call };
  return passing as unknown as Passing;
}

/** Arguments of an earlier call, as the provider gets them. */
function sent(args: string, passing: Passing): string {
  const call = { id: "call_0", type: "function", function: { name: "send", arguments: args } };
  const messages = [{ role: "assistant", content: "", tool_calls: [call] }];
  const bytes = Buffer.from(JSON.stringify({ model: "m", messages }));
  const edited = guardRequest(bytes, places, passing) as { body: JsonObject } | undefined;
  const got = (edited?.body ?? JSON.parse(bytes.toString())) as { messages: typeof messages };
  return got.messages[0]!.tool_calls[0]!.function.arguments;
}

const AS = {
  kind: "tool-arguments",
  path: "choices[0].delta.tool_calls[0].function.arguments",
  channel: "0/call 0/arguments",
  isJson: true,
} as const;

/** Arguments of the answer, as the client joins them. */
function received(pieces: readonly string[], { guards, map, verdicts }: Passing): string {
  const output = new Output(guards, map, verdicts);
  const channel = new Channel(AS);
  const holders = pieces.map((piece): Holder => {
    const holder: Holder = { open: 0 };
    channel.add({ ...AS, get: () => piece, set: () => {} }, holder);
    channel.settle(output, false);
    return holder;
  });
  channel.settle(output, true);
  return holders.map(({ changes }, at) => changes?.get(AS.path) ?? pieces[at]!).join("");
}

const toOf = (args: string) => (JSON.parse(args) as { to: string }).to;
const cut = (text: string, size: number) => text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];

const CHARS = fc.oneof(
  fc.constantFrom(
    '"',
    "\\",
    "\n",
    "\t",
    "\r",
    "\0",
    "\u2028",
    "/",
    "'",
    "😀",
    "é",
    "\\n",
    '\\"',
    "\\u0041",
    "%40",
    "&amp;",
  ),
  fc.string({ maxLength: 4 }),
);
const VALUES = fc
  .array(CHARS, { minLength: 1, maxLength: 8 })
  .map((chars) => `<<${chars.join("").replace(/[<>]/g, "") || "x"}>>`)
  .filter((value) => value.length <= 44);

test("10,000 values go out as tokens and come back, and arguments stay JSON", () => {
  fc.assert(
    fc.property(VALUES, fc.integer({ min: 1, max: 9 }), (value, size) => {
      const passing = passingOf(GUARD);
      const at = sent(JSON.stringify({ to: `x ${value} y` }), passing);
      expect(toOf(at)).toMatch(/^x PII_BADGE_[a-z2-7]{8} y$/);
      expect(toOf(received(cut(at, size), passing))).toBe(`x ${value} y`);
    }),
    { numRuns: 10_000 },
  );
});

const TEXTS = ["to\tanna@example.com", "\nanna@example.com\n", '"anna@example.com"', "\\anna@example.com"];

test("an escape in front of a value is no part of it", () => {
  for (const text of TEXTS) {
    const passing = passingOf(GUARD);
    const at = sent(JSON.stringify({ to: text }), passing);
    expect(toOf(at).replace(/PII_EMAIL_[a-z2-7]{8}/, "anna@example.com")).toBe(text);
  }
});

test("nor is it in what a model writes, at any cut", () => {
  for (const text of TEXTS)
    for (const size of [1, 2, 3, 5, 100]) {
      const got = received(cut(JSON.stringify({ to: text }), size), passingOf(GUARD));
      expect(toOf(got).replace(/PII_EMAIL_[a-z2-7]{8}/, "anna@example.com")).toBe(text);
      expect(got).not.toContain("anna");
    }
});

test("values with two layers of escapes are found", () => {
  const passing = passingOf(GUARD);
  const at = sent(JSON.stringify({ to: "anna\\u0040example.com, anna%40example.com" }), passing);
  expect(toOf(at)).toMatch(/^PII_EMAIL_[a-z2-7]{8}, PII_EMAIL_[a-z2-7]{8}_2$/);
});

test("what is no JSON, or deeper than anyone nests it, is read as a text", () => {
  for (const text of [
    "{to: anna@example.com",
    `${"[".repeat(100_000)}"anna@example.com"${"]".repeat(100_000)}`,
  ])
    expect(sent(text, passingOf(GUARD))).toMatch(/PII_EMAIL_[a-z2-7]{8}/);
});
