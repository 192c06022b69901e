/** Sections of prompts: what of a request changes their hashes, in each client format. */
import { describe, expect, test } from "bun:test";
import type { ClientCodec, Format } from "../../src/core/format.ts";
import { SECTION_BYTES } from "../../src/core/section-hash.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { geminiFormat } from "../../src/formats/gemini/index.ts";
import { ollamaFormat } from "../../src/formats/ollama/index.ts";
import { createMessagesFormat } from "../../src/formats/messages/index.ts";
import { responsesFormat } from "../../src/formats/responses/index.ts";
import { RequestBody } from "../../src/server/request-body.ts";
import { layoutOf } from "../../src/stream/outline/layout.ts";
import { scanBody } from "../../src/stream/scan.ts";

const messages = createMessagesFormat({ systemTurns: "merge" } as never);

/** Names and hashes of the sections of a request. */
function sectionsOf({ client }: Format, body: unknown): { names: string[]; hashes: string[]; head: number } {
  const bytes = new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
  const { members } = scanBody(bytes, 100);
  const spanOf = (name: string) => members.get(name);
  const source = { headers: new Headers(), bytes, spanOf };
  const found = (client as ClientCodec).facts.promptSections!(source)!;
  const names = found.parts.flatMap(([name, count]) =>
    count === 0 ? [name] : Array.from({ length: count }, (_, at) => `${name}[${at}]`),
  );
  const hashes = names.map((_, at) =>
    found.hashes.subarray(at * SECTION_BYTES, (at + 1) * SECTION_BYTES).toHex(),
  );
  expect(found.hashes.length).toBe(names.length * SECTION_BYTES);
  return { names, hashes, head: found.head };
}

const TURNS = [
  { role: "user", content: 'Describe "a" weir.' },
  {
    role: "assistant",
    content: [
      { type: "text", text: "A dam." },
      { type: "text", text: "A low one." },
    ],
  },
];
const TOOLS = [{ name: "look" }, { name: "list" }];
const mark = { cache_control: { type: "ephemeral", ttl: "1h" } };

describe("names of sections", () => {
  test("are paths in the client's request, in the order in which providers cache them", () => {
    const body = {
      messages: TURNS,
      system: [
        { type: "text", text: "s" },
        { type: "text", text: "t" },
      ],
      tools: TOOLS,
    };
    expect(sectionsOf(messages, body)).toMatchObject({
      names: ["tools[0]", "tools[1]", "system[0]", "system[1]", "messages[0]", "messages[1]"],
      head: 4,
    });
    expect(sectionsOf(messages, { messages: TURNS, system: "s", tools: [] })).toMatchObject({
      names: ["system", "messages[0]", "messages[1]"],
      head: 1,
    });
  });

  test("a system message at the beginning belongs to the head", () => {
    const turns = [{ role: "developer", content: "Be short." }, ...TURNS];
    expect(sectionsOf(chatCompletionsFormat, { messages: turns, tools: TOOLS })).toMatchObject({ head: 3 });
    const input = [{ role: "user", content: "a" }];
    expect(sectionsOf(responsesFormat, { input, instructions: "i" })).toMatchObject({
      names: ["instructions", "input[0]"],
      head: 1,
    });
    const contents = [{ role: "user", parts: [{ text: "a" }] }];
    expect(
      sectionsOf(geminiFormat, { contents, systemInstruction: { parts: [{ text: "i" }] } }),
    ).toMatchObject({
      names: ["systemInstruction", "contents[0]"],
      head: 1,
    });
    const chat = [{ role: "system", content: "Be short." }, ...TURNS];
    expect(sectionsOf(ollamaFormat, { messages: chat, tools: TOOLS })).toMatchObject({ head: 3 });
  });

  test("a request without turns has no sections", () => {
    const source = { headers: new Headers(), bytes: new Uint8Array(), spanOf: () => undefined };
    expect(messages.client!.facts.promptSections!(source)).toBeUndefined();
  });
});

describe("hashes of sections", () => {
  const hashes = (turns: unknown[], rest = {}) => sectionsOf(messages, { ...rest, messages: turns }).hashes;

  test("stay when a client moves its cache marks", () => {
    const marked = [
      TURNS[0],
      {
        ...TURNS[1],
        content: [
          { type: "text", text: "A dam." },
          { type: "text", text: "A low one.", ...mark },
        ],
      },
    ];
    expect(hashes(marked)).toEqual(hashes(TURNS));
    expect(hashes(TURNS, { tools: [TOOLS[0], { ...TOOLS[1], ...mark }] })).toEqual(
      hashes(TURNS, { tools: TOOLS }),
    );
  });

  test("stay when a client writes one text as a list to mark it, with the white space of any language", () => {
    const listed = [
      { role: "user", content: [{ type: "text", text: 'Describe "a" weir.', ...mark }] },
      TURNS[1],
    ];
    expect(hashes(listed)).toEqual(hashes(TURNS));
    const spaced = (turn: unknown) => {
      const text = JSON.stringify(turn).replaceAll(":", ": ").replaceAll(",", ", ");
      return sectionsOf(messages, `{"messages": [${text}]}`).hashes;
    };
    expect(spaced(listed[0])).toEqual(spaced(TURNS[0]));
    const turned = ({ role, content }: (typeof TURNS)[number]) => ({ content, role });
    expect(hashes([turned(listed[0] as never)])).toEqual(hashes([turned(TURNS[0] as never)]));
  });

  test("stay when a mark is the first member of a block, or a text is about marks", () => {
    const [first, second] = [
      { role: "user", content: [{ ...mark, type: "image", source: {} }] },
      { role: "user", content: [{ type: "image", source: {} }] },
    ];
    expect(hashes([first])).toEqual(hashes([second]));
    const about = (text: string) => hashes([{ role: "user", content: text }]);
    expect(about(JSON.stringify({ a: 1, ...mark }))).not.toEqual(about(JSON.stringify({ a: 1 })));
  });

  test("of a list with several texts stay when the client marks one of them, and are not those of one text", () => {
    const texts = (marked: number) => [
      {
        role: "user",
        content: ["a", "b", "c"].map((text, at) => ({ type: "text", text, ...(at === marked && mark) })),
      },
    ];
    expect(hashes(texts(0))).toEqual(hashes(texts(2)));
    expect(hashes(texts(1))).toEqual(hashes(texts(-1)));
    expect(hashes(texts(1))).not.toEqual(hashes([{ role: "user", content: "abc" }]));
  });

  test("are those of a slow search for a list that the fast one leaves to it", () => {
    const turns = Array.from({ length: 5_000 }, (_, at) => ({ role: "user", content: `turn ${at}` }));
    expect(hashes(turns)).toEqual(hashes(turns.slice(0, 512)));
  });

  test("differ with the content, the role and the order, and only from there on", () => {
    const other = hashes([{ ...TURNS[0], content: "Describe a weir" }, TURNS[1]]);
    const same = hashes(TURNS);
    expect([other[0] === same[0], other[1] === same[1]]).toEqual([false, true]);
    expect(hashes([{ ...TURNS[0], role: "assistant" }])[0]).not.toBe(same[0]);
    expect(hashes(TURNS.toReversed())).toEqual(same.toReversed());
  });

  test("are the same in blocks of a body, whose hashes weir finds again, and in a body without blocks", () => {
    const texts = (at: number) => [{ type: "text", text: `Turn ${at}`, ...(at % 5 === 0 && mark) }];
    const turns = Array.from({ length: 530 }, (_, at) => ({
      role: at < 2 ? "system" : "user",
      content: texts(at),
    }));
    for (const length of [0, 1, 2, 3, 100, 101, 102, 300, 511, 512, 530])
      for (const indent of [0, 2]) {
        const body = {
          messages: turns.slice(0, length),
          tools: [...TOOLS, { ...mark, name: "a".repeat(5_000) }],
        };
        const bytes = new TextEncoder().encode(JSON.stringify(body, null, indent));
        const read = new RequestBody(bytes, 100);
        expect(layoutOf(bytes)).toBeDefined();
        const find = (found: Uint8Array) =>
          chatCompletionsFormat.client!.facts.promptSections!({
            ...{ headers: new Headers(), bytes: found, spanOf: (name: string) => read.spanOf(name) },
          });
        expect(find(bytes)).toEqual(find(bytes.slice()));
      }
  });

  test("end after 512 sections", () => {
    const turns = Array.from({ length: 600 }, (_, at) => ({ role: "user", content: `turn ${at}` }));
    expect(hashes(turns).length).toBe(512);
  });
});
