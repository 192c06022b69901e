/** What each detector holds back of a text that goes on: pieces give what the whole text gives. */
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

type Find = NonNullable<NamedGuard["find"]>;

const AS = { kind: "text", path: "choices[0].delta.content", channel: "0/content" } as const;

function outputOf(find: Find): Output {
  const guard = new Guard({ name: "own", find, regions: ["DE", "US"], do: "mask" });
  return new Output(
    [guard],
    new CallMap(new Uint8Array(32)),
    new Verdicts([guard], new Call("req_1", "chat-completions", new Headers()), new Uint8Array(32)),
  );
}

function streamed(pieces: readonly string[], find: Find): string {
  const output = outputOf(find);
  const channel = new Channel(AS);
  const holders: Holder[] = [];
  for (const text of pieces) {
    const holder: Holder = { open: 0 };
    holders.push(holder);
    const piece: AnswerText = { ...AS, get: () => text, set: () => {} };
    channel.add(piece, holder);
    channel.settle(output, false);
  }
  channel.settle(output, true);
  return holders
    .map(({ open, changes }, at) => (open === 0 ? (changes?.get(AS.path) ?? pieces[at]!) : "OPEN"))
    .join("");
}

const TOKEN = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";
const LONG = "sk-proj-" + "aB3dE5fG7h".repeat(7) + "aB3dT3BlbkFJ" + "aB3dE5fG7h".repeat(7) + "aB3d";
const PEM = `-----BEGIN PRIVATE KEY-----\n${"MIIBVgIBADANBgkqhkiG9w0BAQEFAASCAUAwggE8".repeat(3)}\n-----END PRIVATE KEY-----`;

const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
const AZURE = "aB38Q~x9Kd83jdLq02mZ7Tb5VwzX4cV6bN8mQ1w";

/** Parts of texts by what is found in them. */
const PARTS: Readonly<Record<string, { readonly find: Find; readonly parts: readonly string[] }>> = {
  secrets: {
    find: ["secrets"],
    parts: [
      ...[
        TOKEN,
        LONG,
        PEM,
        "AKIAQ3EGUVWXYZ234567",
        "api_key",
        "token: ",
        "secret = ",
        "'x9Kd83jdLq02mZ7Tb5Vw'",
        '"',
        "x9Kd83jdLq02mZ7Tb5Vw",
      ],
      ...[
        "curl -u anna:h7Gd93kqLm https://x.example ",
        "curl ",
        "-H 'Authorization: Bearer x9Kd83jdLq02mZ7Tb5Vw' ",
        "adafruit_key=",
        "=",
        ": ",
      ],
      ...[
        "the key is to ",
        "-----BEGIN ",
        "-----",
        "https://hooks.slack.com/services/T00000000/B00000000/aB3dE5fG7hJ9kL1mN3pQ5rS7",
        "\n",
        ";",
        ",",
        JWT,
      ],
    ],
  },
  phone: {
    find: ["phone"],
    parts: [
      "+49 (0)30 1234567",
      "+1-555-123-4567",
      "(206) 555-0199 x123",
      "030 123456",
      "004930123456",
      "+",
      "49",
      " ",
      "12",
      "(",
      ")",
      "-",
      ".",
      "/",
      "ext. 5",
      " x9",
      "a",
      ", ",
    ],
  },
  others: {
    find: ["ssn-us", "nino-uk", "tax-de", "cpf-br", "aadhaar-in", "mac"],
    parts: [
      "078-05-1120",
      "AB 12 34 56 C",
      "86095742719",
      "111.444.777-35",
      "2341 2341 2346",
      "00:1B:44:11:3A:B7",
      "0",
      "1",
      "-",
      " ",
      ".",
      ":",
      "A",
      "AB",
      "12",
      "x",
      "\n",
    ],
  },
  addresses: {
    find: ["url-credentials"],
    parts: [
      "postgres://anna:h7Gd93kq@db.example/x",
      "https://a.example/p?api_key=h7Gd93kqLm&x=1",
      "https",
      "://",
      "anna:",
      "h7Gd93kq",
      "@",
      "db.example",
      "?token=",
      "&",
      " ",
      "\n",
      "/",
      ":",
      "x",
    ],
  },
  invisible: {
    find: ["invisible"],
    parts: [
      "\u200b",
      "\u200d",
      "\u200c",
      "👩‍👩‍👧",
      "👩",
      "❤️",
      "a",
      "می‌خواهم",
      "\u202e",
      "\x1b[31m",
      "\x1b]8;;x\x07",
      "\x1b",
      "[",
      "3",
      "\u{e0041}\u{e0042}",
      "🏴",
      "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
      "\ufe0f",
      "ภ",
      "\u00ad",
      " ",
    ],
  },
  words: {
    find: [{ name: "project", words: ["Falcon", "Project Falcon", "東京", "Falcons of"] }],
    parts: [
      "Falcon",
      "project ",
      "PROJECT FALCON",
      "s",
      " of",
      "東京",
      "東",
      "京",
      " ",
      "Fal",
      "con",
      "x",
      "ｆａｌｃｏｎ",
      ".",
    ],
  },
};

for (const [name, { find, parts }] of Object.entries(PARTS))
  test(`${name}: pieces give what the whole text gives`, () => {
    const text = fc
      .array(fc.oneof(fc.constantFrom(...parts), fc.string({ maxLength: 3 })), { maxLength: 9 })
      .map((all) => all.join(""));
    const cut = fc.tuple(text, fc.array(fc.nat(), { maxLength: 12 }));
    fc.assert(
      fc.property(cut, ([given, cuts]) => {
        const whole = outputOf(find).whole(given, AS).whole;
        const places = [...new Set([0, given.length, ...cuts.map((one) => one % (given.length + 1))])].sort(
          (a, b) => a - b,
        );
        const pieces = places.slice(1).map((end, at) => given.slice(places[at]!, end));
        expect(streamed(pieces, find)).toBe(whole);
        expect(streamed([...given], find)).toBe(whole);
      }),
      { numRuns: Number(process.env.WEIR_RUNS ?? 400) },
    );
  }, 60_000);

test("of two addresses side by side both are found, also where the first one takes letters of the second", () => {
  const url = "https://hooks.slack.com/services/T00000000/B00000000/aB3dE5fG7hJ9kL1mN3pQ5rS7";
  const given = `${url}${url}token: `;
  const whole = outputOf(["secrets"]).whole(given, AS).whole;
  expect(whole).toBe("[SECRET]://[SECRET]: ");
  expect(streamed([given], ["secrets"])).toBe(whole);
  expect(streamed([...given], ["secrets"])).toBe(whole);
});

test.each([
  "(+49 (0)30 1234567+49 (0)30 1234567+49 (0)30 1234567",
  "+(+1-555-123-4567+49 (0)30 1234567+49 (0)30 1234567",
  "+49 (0)30 1234567/0;0",
])("brackets and slashes around telephone numbers: %s", (given) => {
  expect(streamed([...given], ["phone"])).toBe(outputOf(["phone"]).whole(given, AS).whole);
});

/** Texts in which what is in front of a value matters. */
const BESIDE: Readonly<Record<string, readonly [given: string, whole: string]>> = {
  "ten addresses without a space": [
    "https://hooks.slack.com/services/T00000000/B00000000/aB3dE5fG7hJ9kL1mN3pQ5rS7".repeat(10),
    `[SECRET]${"://[SECRET]".repeat(9)}`,
  ],
  "a name that looks like the value of another one": [
    "token: -----secret = x9Kd83jdLq02mZ7Tb5Vw",
    "token: -----secret = [SECRET]",
  ],
  "a name at the end of a token that has a name": [
    `a key=${JWT}secret = 'x9Kd83jdLq02mZ7Tb5Vw'`,
    "a key=[SECRET] = '[SECRET]'",
  ],
  "a key with what it needs in front": [`hello ${AZURE} `, "hello [SECRET] "],
  "a password among attributes": [
    'a <add key="Password" value="h7Gd93kqLm" /> b',
    'a <add key="Password" value="[SECRET]" /> b',
  ],
  "a name of a rule with several forms": ["jira: 'abcdefghij0123456789abcd' b", "jira: '[SECRET]' b"],
  "a key far behind its name": [
    "'secret_key'  =>      'sk_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW' b",
    "'secret_key'  =>      '[SECRET]' b",
  ],
  "a token of several lines": [
    "a ZXlKcmFXUWlPFjiygqNlkDp33tIEAQ9DNLrxlh9\nD3xL6ouYhzRPGMG\n\nb.",
    "a [SECRET].",
  ],
  "a name whose beginning makes it one of no secret": [
    "a sequence_key = 'x9Kd83jdLq02mZ7Tb5Vw' b",
    "a sequence_key = 'x9Kd83jdLq02mZ7Tb5Vw' b",
  ],
  "a line that imports": [
    "x\nimport { accessToken, x9Kd83jdLq02mZ7Tb5Vw } from './x9'\nb",
    "x\nimport { accessToken, x9Kd83jdLq02mZ7Tb5Vw } from './x9'\nb",
  ],
  "a line that mounts a secret": [
    "RUN --mount=type=secret,id=a --other token=x9Kd83jdLq02mZ7Tb5Vw\nb",
    "RUN --mount=type=secret,id=a --other token=x9Kd83jdLq02mZ7Tb5Vw\nb",
  ],
  "two keys with one space between": [`${AZURE} ${AZURE}`, "[SECRET] [SECRET]"],
};

for (const [name, [given, expected]] of Object.entries(BESIDE))
  test(`${name}: pieces give what the whole text gives`, () => {
    const whole = outputOf(["secrets"]).whole(given, AS).whole;
    expect(whole).toBe(expected);
    for (let size = 1; size < 9; size++)
      expect(streamed(given.match(new RegExp(`[^]{1,${size}}`, "g"))!, ["secrets"])).toBe(whole);
  });
