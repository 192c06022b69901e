/** What guards make of a streamed text does not depend on where it is cut, and nothing that went on is part of a value. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { Call } from "../../../core/call.ts";
import type { AnswerText } from "../../../core/text-places.ts";
import { Guard } from "../guard.ts";
import { Channel, type Holder } from "../pass/channel.ts";
import { Output } from "../pass/output.ts";
import { CallMap } from "../replace/call-map.ts";
import type { NamedGuard } from "../section.ts";
import { Verdicts } from "../verdicts.ts";

const SECRET = Uint8Array.from({ length: 32 }, (_, at) => at);
const FIND: NamedGuard["find"] = [
  "email",
  "card",
  "iban",
  "ip",
  { name: "employee", pattern: "\\bE-\\d{6}\\b", longest: 8 },
];

/** The values of the caller, which the model has as tokens. */
const OWN = [
  { kind: "EMAIL", normal: "anna@example.com", written: "anna@example.com" },
  { kind: "EMAIL", normal: "anna@example.com", written: "Anna@example.com" },
  { kind: "CARD", normal: "4111111111111111", written: "4111 1111 1111 1111" },
];

function outputOf(action: NamedGuard["do"]): Output {
  const guard = new Guard({ name: "pii", find: FIND, do: action });
  const map = new CallMap(SECRET);
  map.add(OWN);
  return new Output(
    [guard],
    map,
    new Verdicts([guard], new Call("req_1", "chat-completions", new Headers()), SECRET),
  );
}

const AS = { kind: "text", path: "choices[0].delta.content", channel: "0/content" } as const;
const piece = (text: string): AnswerText => ({ ...AS, get: () => text, set: () => {} });

/** The text as it goes on, and for each piece how much had gone on when it came. */
function streamed(pieces: readonly string[], action: NamedGuard["do"]): string {
  const output = outputOf(action);
  const channel = new Channel(AS);
  const holders: Holder[] = [];
  for (const text of pieces) {
    const holder: Holder = { open: 0 };
    holders.push(holder);
    channel.add(piece(text), holder);
    channel.settle(output, false);
  }
  channel.settle(output, true);
  return holders
    .map(({ open, changes }, at) => (open === 0 ? (changes?.get(AS.path) ?? pieces[at]!) : "OPEN"))
    .join("");
}

const FRAGMENTS = fc.oneof(
  fc.constantFrom(
    ...["anna@example.com", "bob.smith+x@mail.example.co.uk", "4111 1111 1111 1111", "4111-1111-1111-1111"],
    ...[
      "5500005555555559",
      "DE89 3704 0044 0532 0130 00",
      "GB82WEST12345698765432",
      "10.20.30.40",
      "2001:db8::8a2e:370:7334",
    ],
    ...["E-123456", "PII_EMAIL_zh5hkibg", "PII_EMAIL_zh5hkibg_2", "PII_CARD_dqr5tm7i", "pii_email_ZH5HKIBG"],
    ...[
      "PII_",
      "PII_EMAIL_zh5",
      "@",
      ".com",
      "1234",
      "4111",
      " ",
      "\n",
      ", ",
      "E-12",
      "::",
      "x",
      "ａｎｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ",
    ],
    ...["anna%40example.com", "anna&#64;example.com", "anna\\u0040example.com", "👩‍👩‍👧", "中文", "é"],
  ),
  fc.string({ maxLength: 6 }),
  fc.stringMatching(/^[a-zA-Z0-9@. -]{0,12}$/),
);

const TEXTS = fc.array(FRAGMENTS, { maxLength: 14 }).map((parts) => parts.join(""));
const CUT = fc.tuple(TEXTS, fc.array(fc.nat(), { maxLength: 40 })).map(([text, cuts]) => {
  const places = [...new Set([0, text.length, ...cuts.map((cut) => cut % (text.length + 1))])].sort(
    (a, b) => a - b,
  );
  return { text, pieces: places.slice(1).map((end, at) => text.slice(places[at]!, end)) };
});

for (const action of ["replace", "mask"] as const)
  test(`${action}: pieces give what the whole text gives`, () => {
    fc.assert(
      fc.property(CUT, ({ text, pieces }) => {
        const whole = outputOf(action).whole(text, AS).whole;
        expect(streamed(pieces, action)).toBe(whole);
        expect(
          streamed(
            [...text].flatMap((char) => [...char]),
            action,
          ),
        ).toBe(whole);
      }),
      { numRuns: 3_000 },
    );
  });
