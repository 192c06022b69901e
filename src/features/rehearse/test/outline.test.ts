/** What an outline keeps of a request, and what it does not. */
import { expect, test } from "bun:test";
import { Call } from "../../../core/call.ts";
import type { JsonObject } from "../../../core/json.ts";
import { builtInFormats } from "../../../run/formats.ts";
import { parseOutlines } from "../keep/files.ts";
import { OutlineMaker } from "../outline/outline.ts";
import { expand, Placeholders } from "../outline/placeholders.ts";
import { askedBy } from "../run/asked.ts";

const formats = builtInFormats({ systemTurns: "accept" });

function outlineOf(id: string, body: JsonObject, headers: Record<string, string> = {}) {
  const format = formats.find((one) => one.id === id)!;
  const call = new Call("req_1", id, new Headers(headers));
  call.model = String(body["model"]);
  const bytes = Buffer.from(JSON.stringify(body));
  return new OutlineMaker(formats, 7n).of({ call, bytes, body, format: format as never }, "generate");
}

test("a text becomes a text of the same length in bytes and characters, with white space at the same ends", () => {
  const made = new Placeholders(1n);
  for (const text of [
    "",
    "x",
    "hello there",
    " begins",
    "ends\n",
    "  \n ",
    'quotes " and \\',
    "żółć",
    "漢字かな",
    "😀 smile",
    "\u0001\u0002x",
    "a\nb\nc",
  ]) {
    const stand = expand(made.text(text));
    expect([text, stand.length]).toEqual([text, text.length]);
    expect([text, stand.trim() === "", /^\s/.test(stand), /\s$/.test(stand)]).toEqual([
      text,
      text.trim() === "",
      /^\s/.test(text),
      /\s$/.test(text),
    ]);
    const sizes = [stand, text].map((one) => Buffer.byteLength(JSON.stringify(one)));
    // Control characters take six bytes each; no filler has as many.
    if (!text.includes("\u0001")) expect([text, sizes[0]]).toEqual([text, sizes[1]!]);
  }
});

test("a name has the same stand-in everywhere, of the same kinds of letters, and of another process another one", () => {
  const made = new Placeholders(1n);
  expect(made.name("get_Weather2")).toBe(made.name("get_Weather2"));
  expect(made.name("get_Weather2")).toMatch(/^[a-z]{3}_[A-Z][a-z]{6}\d$/);
  expect(made.name("get_Weather2")).not.toBe("get_Weather2");
  expect(new Placeholders(2n).name("get_Weather2")).not.toBe(made.name("get_Weather2"));
  expect(made.name("toolu_01ABC")).toMatch(/^toolu_\d\d[A-Z]{3}$/);
});

test("the structure, the words and the numbers of a request stay, and no text, name or argument does", () => {
  const secret = "zebra";
  const body: JsonObject = {
    model: "openai/gpt-5.4",
    temperature: 0.3,
    user: `${secret}-user`,
    messages: [
      { role: "system", content: `You are ${secret}.` },
      {
        role: "user",
        content: [
          { type: "text", text: secret },
          { type: "image_url", image_url: { url: `https://${secret}.example/${secret}.png` } },
        ],
      },
      {
        role: "assistant",
        tool_calls: [
          {
            id: "call_zebra1",
            type: "function",
            function: { name: "find_zebra", arguments: `{"zebra":"${secret}","n":5551234567}` },
          },
        ],
      },
      { role: "tool", tool_call_id: "call_zebra1", content: `{"found":"${secret}"}` },
    ],
    tools: [
      {
        type: "function",
        function: {
          name: "find_zebra",
          description: secret,
          strict: true,
          parameters: {
            type: "object",
            properties: { zebra: { type: "string", enum: ["zebra1", "zebra2"], description: secret } },
            required: ["zebra"],
            additionalProperties: false,
          },
        },
      },
    ],
    tool_choice: { type: "function", function: { name: "find_zebra" } },
    metadata: { zebra_key: secret },
    zebra_member: { zebra: 1 },
  };
  const outline = outlineOf("chat-completions", body, {
    "x-zebra": secret,
    authorization: `Bearer ${secret}`,
    "x-weir-strict": "true",
  });
  const text = JSON.stringify(outline);
  expect(text.toLowerCase()).not.toContain("zebra");
  expect(text).not.toContain("5551234567");
  expect(outline.headers).toEqual({ "x-weir-strict": "true" });
  const stand = askedBy(outline).body as typeof body & { messages: any[]; tools: any[]; tool_choice: any };
  expect(stand["temperature"]).toBe(0.3);
  const [tool] = stand.tools;
  const { parameters, name } = tool.function;
  expect(parameters).toMatchObject({ type: "object", additionalProperties: false });
  expect(Object.keys(parameters.properties)).toEqual(parameters.required);
  expect(stand.tool_choice.function.name).toBe(name);
  const [called] = stand.messages[2].tool_calls;
  expect(called.function.name).toBe(name);
  expect(called.id).toBe(stand.messages[3].tool_call_id);
  expect(Object.keys(JSON.parse(called.function.arguments))).toHaveLength(2);
  expect(stand.messages[1].content[1].image_url.url).toMatch(/^https:\/\/example\.com\/x*\.png$/);
});

test("the body of a rehearsal is as large as that of the client", () => {
  const body = { model: "m", max_tokens: 5, messages: [{ role: "user", content: "x".repeat(5_000) }] };
  const outline = outlineOf("messages", body);
  expect(JSON.stringify(outline).length).toBeLessThan(400);
  expect(askedBy(outline).bytes.length).toBe(JSON.stringify(body).length);
});

test("a request that continues what is stored says that its rehearsal is unknown", () => {
  const outline = outlineOf("responses", { model: "m", input: "x", previous_response_id: "resp_1234" });
  expect(outline.unknown).toEqual(["it continues what is stored (previous_response_id)"]);
});

test("a line that is torn, of another version or of the wrong shape is no outline, and neither is a text longer than its body", () => {
  const whole = { ...outlineOf("messages", { model: "m", max_tokens: 5, messages: [] }) };
  const lines = [
    JSON.stringify(whole),
    JSON.stringify(whole).slice(0, 40),
    JSON.stringify({ ...whole, v: 99 }),
    JSON.stringify({ ...whole, bytes: -1 }),
    JSON.stringify({ ...whole, body: [] }),
    JSON.stringify({ ...whole, body: { system: "¤999999999999" } }),
    "\u0000",
  ];
  const { outlines, damaged } = parseOutlines(lines.join("\n"));
  expect([outlines.length, damaged]).toEqual([1, 6]);
});
