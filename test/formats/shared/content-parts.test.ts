/** A content part is carried where the target has a form for it, and refused by name where it has none. */
import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import type { ClientCodec, UpstreamCodec } from "../../../src/core/format.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { lossesOf } from "../../helpers/codec-context.ts";
import * as chat from "../chat-completions/make.ts";
import * as messages from "../messages/make.ts";

const URL = "https://example.com/report.pdf";
const PDF = Buffer.from("%PDF-1.4 x").toString("base64");

const FORMATS: Record<string, { client: ClientCodec; upstream: UpstreamCodec }> = {
  "chat-completions": chat,
  messages,
};

interface Sent {
  /** Content of the last message as it went out. */
  content?: Json;
  error?: { status: number; param: string | undefined; message: string };
  losses: string[];
}

/** What becomes of a user's content on the way from one format to the other. */
function send(from: string, to: string, content: Json[], traits: Traits = {}): Sent {
  const make = to === "messages" ? messages.requestContext : chat.requestContext;
  const context = { ...make({ format: from, traits }), model: "some-model" };
  const body: JsonObject = { model: "some-model", max_tokens: 9, messages: [{ role: "user", content }] };
  try {
    const request = FORMATS[from]!.client.codec.decodeRequest(body, context);
    const sent = FORMATS[to]!.upstream.codec.encodeRequest(request, context);
    const parts = (sent.messages as JsonObject[]).at(-1)!.content as JsonObject[];
    return { content: parts.map(({ cache_control: _, ...part }) => part), losses: lossesOf(context) };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    const { status, param, message } = thrown;
    return { error: { status, param, message }, losses: lossesOf(context) };
  }
}

const text = { type: "text", text: "what is in it?" };
const document = (more: JsonObject = {}) => ({
  type: "document",
  source: { type: "url", url: URL },
  ...more,
});

describe("a document by its address, from a chat-completions client", () => {
  const PARTS: [JsonObject, title: string | null][] = [
    [{ type: "file", file: { filename: "r.pdf", file_data: URL } }, "r.pdf"],
    [{ type: "file", file: { file_data: URL } }, null],
    [{ type: "file", file: { file_id: URL } }, null],
    [{ type: "document_url", document_url: URL, document_name: "r.pdf" }, "r.pdf"],
    [{ type: "document_url", document_url: { url: URL } }, null],
    [{ type: "file_url", file_url: { url: URL } }, null],
    [{ type: "file_url", file_url: URL }, null],
  ];
  test.each(PARTS)("%j reaches a messages upstream as a document", (part, title) => {
    expect(send("chat-completions", "messages", [text, part])).toEqual({
      content: [text, document(title === null ? {} : { title })],
      losses: [],
    });
  });

  test("bytes in an address are bytes", () => {
    const source = { type: "base64", media_type: "application/pdf", data: PDF };
    for (const type of ["document_url", "file_url"])
      expect(
        send("chat-completions", "messages", [{ type, [type]: `data:application/pdf;base64,${PDF}` }])
          .content,
      ).toEqual([{ type: "document", source }]);
  });

  test("an address only weir's own network can reach is refused by its path", () => {
    const part = { type: "file", file: { file_data: "http://10.0.0.7/r.pdf" } };
    expect(send("chat-completions", "messages", [text, part]).error).toMatchObject({
      status: 400,
      param: "messages[0].content[1]",
    });
  });

  test("to an upstream of its own format every one goes as it came", () => {
    for (const [part] of PARTS) {
      const sent = send("chat-completions", "chat-completions", [text, part]);
      expect(sent.losses).toEqual([]);
      if (part.type !== "file") expect(sent.content).toEqual([text, part]);
      else expect(JSON.stringify(sent.content)).toContain(`"file_data":"${URL}"`);
    }
  });
});

test("a document by its address, from a messages client: in the form the provider has", () => {
  const sent = (traits: Traits) =>
    send("messages", "chat-completions", [text, document({ title: "r" })], traits);
  expect(sent({ documentUrl: "file_data" })).toEqual({
    content: [text, { type: "file", file: { filename: "r", file_data: URL } }],
    losses: [],
  });
  expect(sent({ documentUrl: "document_url" })).toEqual({
    content: [text, { type: "document_url", document_url: URL, document_name: "r" }],
    losses: [],
  });
  expect(sent({}).error).toMatchObject({ status: 400, param: "messages[0].content[1]" });
});

describe("a part the target cannot see", () => {
  const UNSEEN: [from: string, to: string, part: JsonObject][] = [
    ["chat-completions", "messages", { type: "video_url", video_url: { url: "https://example.com/v.mp4" } }],
    ["chat-completions", "messages", { type: "audio_url", audio_url: { url: "https://example.com/a.mp3" } }],
    ["chat-completions", "messages", { type: "document_url" }],
    ["chat-completions", "messages", { type: "hologram", x: 1 }],
    ["messages", "chat-completions", { type: "container_upload", file_id: "file_1" }],
    ["messages", "chat-completions", { type: "image", source: { type: "hologram" } }],
    ["messages", "chat-completions", { type: "document", source: { type: "hologram" } }],
    ["messages", "chat-completions", { type: "hologram", x: 1 }],
  ];
  test.each(UNSEEN)("%s to %s: %j", (from, to, part) => {
    const { error, losses } = send(from, to, [text, part]);
    expect(error).toMatchObject({ status: 400, param: "messages[0].content[1]" });
    expect(error!.message).toContain(
      `messages[0].content[1]: weir cannot translate content of type ${String(part.type)} `,
    );
    expect(losses).toEqual([]);
  });

  test.each(UNSEEN)("from %s, to an upstream that has it (not %s): %j", (from, _to, part) => {
    expect(send(from, from, [text, part])).toEqual({ content: [text, part], losses: [] });
  });

  test("in a tool result too", () => {
    const call = { type: "tool_use", id: "t1", name: "f", input: {} };
    const upload = { type: "container_upload", file_id: "file_1" };
    const context = chat.requestContext({ format: "messages" });
    const body = {
      ...{ model: "m", max_tokens: 9 },
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: [call] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: [text, upload] }] },
      ],
    };
    const request = messages.client.codec.decodeRequest(body, context);
    expect(() => chat.upstream.codec.encodeRequest(request, context)).toThrow(
      /content of type container_upload/,
    );
  });

  test("not in what the assistant said: it is left out of the history, with a warning", () => {
    const context = messages.requestContext();
    const body = {
      model: "m",
      messages: [
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: [
            { type: "text", text: "yes" },
            { type: "reference", reference_ids: [1] },
          ],
        },
        { role: "user", content: "and?" },
      ],
    };
    const request = chat.client.codec.decodeRequest(body, context);
    messages.upstream.codec.encodeRequest(request, context);
    expect(context.losses).toMatchObject([{ code: "dropped", path: "messages[1].content[1]" }]);
  });
});
