/** One replayed call: what is sent, and how an official SDK sees what comes back. */
import type Anthropic from "@anthropic-ai/sdk";
import type { Recording } from "../helpers/recordings.ts";
import { anthropicClient, collect, openaiClient, see, type Seen } from "../helpers/sdk.ts";
import { readStreamed } from "../helpers/streamed.ts";
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
  /** The connection broke behind the bytes, as it does behind an error event. */
  broken: boolean;
}

/** The same body once more, with the same end. */
function again({ bytes, broken }: Wire): ReadableStream<Uint8Array> {
  let isGiven = false;
  return new ReadableStream({
    pull(controller) {
      if (!isGiven && bytes.length > 0) {
        isGiven = true;
        controller.enqueue(new Uint8Array(bytes));
      } else if (broken) controller.error(new Error("the connection broke"));
      else controller.close();
    },
  });
}

export interface Outcome {
  /** The raw items of the stream, or the JSON answer. */
  items: Seen<unknown>;
  /** The message the SDK's own accumulator makes of it. */
  message: Seen<unknown>;
  wire: Wire | undefined;
}

/** Sends `text` with the official SDK of the API to `url`; `headers` go over those of the SDK. */
export async function callWithSdk(
  api: Api,
  url: string,
  body: RequestBody,
  text: string,
  headers: Record<string, string> = {},
): Promise<Outcome> {
  let wire: Wire | undefined;
  // The second call reads what the first one got: one exchange on the wire, judged by both faces of the SDK.
  const onceOverTheWire = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    if (!wire) {
      const all = new Headers(init?.headers);
      for (const [name, value] of Object.entries(headers)) all.set(name, value);
      const response = await fetch(input, { ...init, headers: all, body: text });
      const { bytes, ending } = await readStreamed(response, true);
      wire = { status: response.status, headers: response.headers, bytes, broken: ending !== "clean" };
    }
    return new Response(again(wire), { status: wire.status, headers: wire.headers });
  };
  const outcome = await READERS[api](url, body, onceOverTheWire as typeof fetch);
  return { ...outcome, wire };
}

type Reader = (
  url: string,
  body: RequestBody,
  fetch: typeof globalThis.fetch,
) => Promise<Omit<Outcome, "wire">>;

/** Longest wait for an answer, in milliseconds: a busy machine is no fault. */
const TIMEOUT = 600_000;

const READERS: Record<Api, Reader> = {
  async chat(url, body, fetch) {
    const { completions } = openaiClient(url, { fetch, timeout: TIMEOUT }).chat;
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
    const { messages } = anthropicClient(url, { fetch, timeout: TIMEOUT });
    // The name on the wire is that of the text; the SDK warns about the models it knows to be old.
    const params = { ...body, model: "any" } as unknown as Anthropic.MessageCreateParamsStreaming;
    if (!body.stream) {
      const items = await see(() => messages.create({ ...params, stream: false }, { timeout: TIMEOUT }));
      return { items, message: items };
    }
    const items = await see(async () => collect(await messages.create({ ...params, stream: true })));
    const message = await see(() => messages.stream(params).finalMessage());
    return { items, message };
  },
};
