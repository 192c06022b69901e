/** Bodies in any spelling of JSON: the file is found, and what the body means is the same but for the file. */
import { expect, test } from "bun:test";
import { spell } from "../../../../test/helpers/spellings.ts";
import { randomOf } from "../../../../test/helpers/text-kinds.ts";
import { Call } from "../../../core/call.ts";
import { createKeptId } from "../../../core/kept-id.ts";
import type { JsonObject } from "../../../core/json.ts";
import { builtInFormats } from "../../../run/formats.ts";
import { inlined } from "../inline/inline.ts";
import { ownIdIn } from "../inline/references.ts";

const ID = createKeptId();
const BYTES = Buffer.from("\x89PNG\r\n\x1a\n and more", "latin1");
const DATA = BYTES.toString("base64");
const FILE = {
  id: ID,
  path: "/",
  name: "a.png",
  purpose: "vision",
  bytes: BYTES.length,
  mime: "",
  createdAt: 0,
};

const files = {
  find: async (id: string) => (id === ID ? FILE : undefined),
  async *read() {
    yield BYTES;
  },
};

const uri = `http://weir.example/v1beta/files/${ID}`;
const CASES: readonly [format: string, given: JsonObject, sent: JsonObject][] = [
  [
    "chat-completions",
    { messages: [{ content: [{ type: "file", file: { file_id: `file-${ID}` } }, { type: "text" }] }], n: 1 },
    {
      messages: [
        {
          content: [
            { type: "image_url", image_url: { url: `data:image/png;base64,${DATA}` } },
            { type: "text" },
          ],
        },
      ],
      n: 1,
    },
  ],
  [
    "responses",
    { input: [{ content: [{ type: "input_image", file_id: ID, detail: "low" }] }], x: [1, null] },
    {
      input: [
        {
          content: [{ type: "input_image", image_url: `data:image/png;base64,${DATA}`, detail: "low" }],
        },
      ],
      x: [1, null],
    },
  ],
  [
    "messages",
    { messages: [{ content: [{ type: "image", source: { type: "file", file_id: `file_${ID}` } }] }] },
    {
      messages: [
        { content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: DATA } }] },
      ],
    },
  ],
  [
    "gemini",
    { contents: [{ parts: [{ fileData: { fileUri: uri } }] }] },
    { contents: [{ parts: [{ inlineData: { mimeType: "image/png", data: DATA } }] }] },
  ],
];

for (const [format, given, sent] of CASES)
  test(`${format}: every spelling of a name is found`, async () => {
    const places = builtInFormats({ systemTurns: "accept" }).find(({ id }) => id === format)!.client!.facts
      .files!;
    const random = randomOf(7);
    for (let round = 0; round < 300; round++) {
      const bytes = Buffer.from(spell(given, random));
      expect([bytes.toString(), places.mayHave(bytes)]).toEqual([bytes.toString(), true]);
      const whole = await inlined({
        call: new Call("c", format, new Headers()),
        bytes,
        places,
        files,
        most: 1_000,
      });
      expect(JSON.parse(Buffer.from(whole).toString())).toEqual(sent);
    }
  });

test("only names in the forms of weir are weir's", () => {
  for (const name of [ID, `file-${ID}`, `file_${ID}`, `files/${ID}`, uri, `${uri}:download?alt=media`])
    expect([name, ownIdIn(name)]).toEqual([name, ID]);
  for (const name of [
    ...[`batch_${ID}`, `file-${ID}x`, `file-${ID.toUpperCase()}`, "file-6F2ksmvXxt4VdoqmHRw6kL", ""],
    `https://generativelanguage.googleapis.com/v1beta/files/${ID}`,
    ...[`https://example.com/${ID}`, `gs://bucket/files/${ID}`, "files/abc-123"],
  ])
    expect([name, ownIdIn(name)]).toEqual([name, undefined]);
});
