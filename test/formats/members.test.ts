/**
 * No member of a request is lost in silence: with another value or without the member, the provider gets another request, or
 * weir reports the member or refuses the request. The same for a member that nobody knows, at every level. The exceptions are
 * in the vocabularies, each with its reason (src/formats/README.md#members-without-a-report), and in the table here.
 */
import { describe, expect, test } from "bun:test";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { fixturesOf } from "../helpers/fixtures.ts";
import {
  CLIENT_FORMATS,
  foresee,
  isTold,
  leavesOf,
  objectsOf,
  replaced,
  unseen,
  written,
} from "../helpers/foresee.ts";
import { isSilent, SILENT } from "../helpers/left-out.ts";
import { RARE } from "../helpers/rare-members.ts";
import { IS_LONG } from "../helpers/effort.ts";

/** A model of a provider that speaks the format. */
const MODELS: Readonly<Record<string, string>> = {
  "chat-completions": "chatting/gpt-5.4",
  responses: "answering/gpt-5.4",
  messages: "anthropic/claude-opus-4-6",
  gemini: "gemini/gemini-3.5-flash",
  converse: "bedrock/us.amazon.nova-2-lite-v1:0",
};

/** Parts of cases that no provider needs, by case; the paths are regular expressions. */
const NEEDLESS: Readonly<Record<string, { path: RegExp; why: string }>> = {
  "tool-choice-allowed": { path: /^tools/, why: "a tool that may not be called is not declared" },
  "tool-choice-none": { path: /^tools/, why: "a tool that may not be called is not declared" },
  "no-tool": { path: /^tools/, why: "a tool that may not be called is not declared" },
  "search-beside-allowed": { path: /^tools\[1\]/, why: "a tool that may not be called is not declared" },
  "answer-image": { path: /^input\[\d\]/, why: "the item of an image becomes the image" },
  "foreign-history": { path: /^reasoning\.effort$/, why: "an item of the input changes it" },
  "rare 7": {
    path: /^messages\[2\]\.name$/,
    why: "the call has the name of the function, and the result its id",
  },
  unlimited: { path: /^options\.num_predict$/, why: "every number below 1 means no limit" },
  "think-off": { path: /^think$/, why: "the model does not reason unless it is asked to" },
  think: { path: /^think$/, why: "true leaves it to the model how much it reasons, as without the member" },
  tools: { path: /^input\[\d\]\.role$/, why: "the role of an item with tools says nothing" },
};

/** Schemas of tools and answers: which of their words a provider gets is tested with the schemas. */
const SCHEMA =
  /\.(?:parameters|parametersJsonSchema|input_schema|output_schema|schema|responseSchema|responseJsonSchema)\b/;
const SCHEMA_WORDS = /\.(?:additionalProperties|propertyOrdering\[\d+\])$/;

/** The cases and the rare members of a client that a provider of another format gets; the short run takes every fifth. */
function casesFor(client: string, upstream: string): { name: string; body: JsonObject }[] {
  const turn = Object.keys(MODELS).indexOf(upstream);
  const rare = RARE[client]!.map((body, index) => ({ name: `rare ${index}`, text: JSON.stringify(body) }));
  return [...fixturesOf("requests", client), ...rare]
    .filter(({ name }, index) => IS_LONG || name === "vendor-members" || index % 5 === turn)
    .map(({ name, text }) => ({
      name,
      body: { ...(JSON.parse(text) as JsonObject), model: MODELS[upstream]! },
    }));
}

function isNeedless(name: string, path: string): boolean {
  return NEEDLESS[name]?.path.test(path) === true;
}

const pairs = Object.keys(CLIENT_FORMATS).flatMap((client) =>
  Object.keys(MODELS).map((upstream) => [client, upstream] as const),
);

describe.each(pairs)("a request of a %s client to a %s provider", (client, upstream) => {
  const format = CLIENT_FORMATS[client]!;

  test("has no value that makes no difference", async () => {
    for (const { name, body } of casesFor(client, upstream)) {
      const paths = leavesOf(body).filter((steps) => {
        const path = written(steps);
        return (
          path !== "model" && !isSilent(client, path) && !isNeedless(name, path) && !SCHEMA_WORDS.test(path)
        );
      });
      expect({ name, unseen: await unseen(format, body, paths, true) }).toEqual({ name, unseen: [] });
    }
  });

  test("gives no unknown member away in silence, at any level", async () => {
    for (const { name, body } of casesFor(client, upstream)) {
      const silent: string[] = [];
      for (const at of objectsOf(body)) {
        const path = written([...at, "unheard_of"]);
        if (isSilent(client, path) || isNeedless(name, path) || SCHEMA.test(path)) continue;
        const foreseen = await foresee(format, withMember(body, at), true);
        if ("refused" in foreseen || isTold(foreseen.losses, path)) continue;
        if (!JSON.stringify(foreseen.sent).includes("unheard-of value")) silent.push(path);
      }
      expect({ name, silent }).toEqual({ name, silent: [] });
    }
  });
});

function withMember(body: JsonObject, at: readonly (string | number)[]): JsonObject {
  const added = (object: Json) => ({ ...(object as JsonObject), unheard_of: "unheard-of value" });
  return at.length === 0 ? added(body) : replaced(body, at, added);
}

test("the search finds a value that makes no difference", async () => {
  const body = {
    model: MODELS.messages!,
    prediction: { type: "content", content: "x" },
    messages: [{ role: "user", content: "u" }],
  };
  expect(await unseen(CLIENT_FORMATS["chat-completions"]!, body)).toEqual([
    "prediction.type",
    "prediction.content",
  ]);
});

test("every member without a report has a reason, in words", () => {
  for (const { path, reason } of Object.values(SILENT).flat()) expect(reason, path).toMatch(/^[\w].* .* \w+/);
});

test("a member of several messages is told once, and the name of each other member too", async () => {
  const user = { role: "user", content: "u", timestamp: 1 };
  const body = { model: MODELS.gemini!, messages: [user, { ...user, zone: "a" }, user] };
  const foreseen = await foresee(CLIENT_FORMATS["chat-completions"]!, body);
  expect("losses" in foreseen && foreseen.losses.map(({ code, path }) => `${code} ${path}`)).toEqual([
    "unknown messages[0].timestamp",
    "unknown messages[1].zone",
  ]);
});

test("any number of unknown names costs little, and a bounded number is told", async () => {
  const names = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`name_${index}`, 1]));
  const body = { model: MODELS.gemini!, messages: [{ role: "user", content: "u", ...names }] };
  const startedAt = performance.now();
  const foreseen = await foresee(CLIENT_FORMATS["chat-completions"]!, body);
  expect("losses" in foreseen && foreseen.losses.length).toBe(500);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});

test("in the same format the bytes pass, and nothing is told", async () => {
  const body = {
    model: MODELS["chat-completions"]!,
    grammar: "root",
    messages: [{ role: "user", content: "u", timestamp: 1 }],
  };
  const foreseen = await foresee(CLIENT_FORMATS["chat-completions"]!, body);
  expect(foreseen).toMatchObject({ lane: "native", losses: [], sent: { grammar: "root" } });
});
