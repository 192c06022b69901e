/** One replayed call: what is sent, and how an official SDK sees what comes back. */
import type Anthropic from "@anthropic-ai/sdk";
import type { Recording } from "../helpers/recordings.ts";
import { anthropicClient, collect, openaiClient, see, type Seen } from "../helpers/sdk.ts";
import type { Api } from "./policy.ts";

export type RequestBody = Record<string, unknown> & { model: string; stream?: boolean };

/** The recorded request; one made for the purpose where only the answer was published. */
export function requestBody(recording: Recording): RequestBody {
  const stream = recording.framing === "sse";
  const model = recording.model ?? "some-model";
  const recorded = recording.request?.body;
  if (recorded)
    return { ...recorded, model: typeof recorded["model"] === "string" ? recorded["model"] : model };
  const messages = [
    { role: "user", content: `The request behind answer ${recording.id} was not published.` },
  ];
  return { model, messages, stream, ...(recording.api === "messages" && { max_tokens: 1024 }) };
}

/** Ways to write the same JSON; the gateway must not prefer one. */
const STYLES: readonly ((body: RequestBody) => string)[] = [
  (body) => JSON.stringify(body),
  (body) => JSON.stringify(body, null, 2),
  (body) => JSON.stringify(body).replace(/[\u0080-\uffff]/g, escapeUnit),
  (body) => JSON.stringify(body, null, "\t").replaceAll("/", "\\/"),
];

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * A body as text that no other call has: `serial` picks the style and is written behind the opening brace in blanks
 * and tabs. So the upstream knows a request by its exact bytes, and one changed byte is a miss. The model name is always
 * written in the one way in which the gateway writes it when it has to change it.
 */
export function writeBody(body: RequestBody, model: string, serial: number): string {
  const blanks = serial.toString(2).replaceAll("0", " ").replaceAll("1", "\t");
  const placeholder = "model-name-goes-here";
  const text = STYLES[serial % STYLES.length]!({ ...body, model: placeholder });
  return `{${blanks}${text.slice(1)}`.replace(`"${placeholder}"`, JSON.stringify(model));
}

/** What came over the wire. */
export interface Wire {
  status: number;
  headers: Headers;
  bytes: Buffer;
}

export interface Outcome {
  /** The raw items of the stream, or the JSON answer. */
  items: Seen<unknown>;
  /** The message the SDK's own accumulator makes of it. */
  message: Seen<unknown>;
  wire: Wire | undefined;
}

/** Sends `text` with the official SDK of the API to `url`. */
export async function callWithSdk(api: Api, url: string, body: RequestBody, text: string): Promise<Outcome> {
  let wire: Wire | undefined;
  // The second call reads what the first one got: one exchange on the wire, judged by both faces of the SDK.
  const onceOverTheWire = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    if (!wire) {
      const response = await fetch(input, { ...init, body: text });
      wire = {
        status: response.status,
        headers: response.headers,
        bytes: Buffer.from(await response.arrayBuffer()),
      };
    }
    return new Response(new Uint8Array(wire.bytes), { status: wire.status, headers: wire.headers });
  };
  const outcome = await READERS[api](url, body, onceOverTheWire as typeof fetch);
  return { ...outcome, wire };
}

type Reader = (
  url: string,
  body: RequestBody,
  fetch: typeof globalThis.fetch,
) => Promise<Omit<Outcome, "wire">>;

const READERS: Record<Api, Reader> = {
  async chat(url, body, fetch) {
    const { completions } = openaiClient(url, { fetch }).chat;
    const params = body as unknown as Parameters<typeof completions.stream>[0];
    if (!body.stream) {
      const items = await see(() => completions.create({ ...params, stream: false }));
      return { items, message: items };
    }
    const items = await see(async () => collect(await completions.create({ ...params, stream: true })));
    const message = await see(() => completions.stream(params).finalChatCompletion());
    return { items, message };
  },
  async messages(url, body, fetch) {
    const { messages } = anthropicClient(url, { fetch });
    // The name on the wire is that of the text; the SDK warns about the models it knows to be old.
    const params = { ...body, model: "any" } as unknown as Anthropic.MessageCreateParamsStreaming;
    if (!body.stream) {
      const items = await see(() => messages.create({ ...params, stream: false }, { timeout: 60_000 }));
      return { items, message: items };
    }
    const items = await see(async () => collect(await messages.create({ ...params, stream: true })));
    const message = await see(() => messages.stream(params).finalMessage());
    return { items, message };
  },
};
