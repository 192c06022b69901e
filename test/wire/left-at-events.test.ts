/** Clients that leave recorded streams behind each of their events: each call is charged once, for what had come. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { type BookedGateway, startBooked } from "../helpers/books.ts";
import { budget } from "../helpers/ledger.ts";
import {
  answerBytes,
  cutInto,
  haveRecordings,
  NO_RECORDINGS,
  type Recording,
  recordings,
} from "../helpers/recordings.ts";
import { sse, startUpstream, type Upstream, until } from "../helpers/upstream.ts";

setDefaultTimeout(120_000);

type Api = "chat" | "messages";

/** A stream as its events, with what the provider had generated behind each. */
interface Stream {
  api: Api;
  id: string;
  events: Uint8Array[];
  /** Tokens of output behind each event: a token for 3.5 bytes, or what the provider had counted if that is more. */
  generated: number[];
  /** The output that the provider counted at the end, and the first number of events that include that count. */
  counted: number;
  countedAt: number;
}

const STREAMS_OF_AN_API = 10;
const BYTES_PER_TOKEN = 3.5;
/** What the provider may have produced before it was stopped: at most a second and a quarter, at 200 tokens a second. */
const GAP = 250;
/** Dollars a million tokens of output. Input costs nothing, because providers of chat-completions count it at the end only. */
const PRICE = 2;
/** Behind the last event, so that the client knows that weir has passed it on. */
const LEAVE = ": leave\n\n";

let streams: Stream[];

/** The first of each vendor in turn, so that no vendor has them all. */
function streamsOf(api: Api): Stream[] {
  const byVendor = Map.groupBy(recordings({ api }).filter(isUsable), ({ vendor }) => vendor);
  const found: Stream[] = [];
  for (let turn = 0; turn < 200; turn++)
    for (const ofVendor of byVendor.values()) {
      const recording = ofVendor[turn];
      const stream = recording && readStream(api, recording);
      if (stream && found.length < STREAMS_OF_AN_API) found.push(stream);
    }
  return found;
}

function isUsable({ stream, framing, response, tags }: Recording): boolean {
  return stream && framing === "sse" && response.status === 200 && !tags.includes("maybe_handwritten");
}

/** @returns undefined for a stream without one count at its end, with hidden reasoning, or of another length */
function readStream(api: Api, recording: Recording): Stream | undefined {
  const events = cutInto(answerBytes(recording), "event");
  if (events.length < 8 || events.length > 24) return undefined;
  let bytes = 0;
  let ends = api === "messages";
  let counts = 0;
  let counting = 0;
  let counted: number | undefined;
  let countedAt = 0;
  const generated = events.map((event, at) => {
    for (const data of dataOf(event)) {
      if (reasoningCount(data) > 0) return -1;
      ends ||= data.choices?.some(({ finish_reason }) => typeof finish_reason === "string") === true;
      bytes += (api === "chat" ? chatBytes : messagesBytes)(data);
      const count = api === "chat" ? data.usage?.completion_tokens : data.usage?.output_tokens;
      counting = Math.max(counting, data.message?.usage?.output_tokens ?? 0);
      if (count !== undefined) {
        counts++;
        counted = count;
        countedAt = at + 1;
      }
    }
    return Math.max(counting, bytes / BYTES_PER_TOKEN);
  });
  const isPlain = counts === 1 && ends && bytes > 0 && generated.every((tokens) => tokens >= 0);
  return isPlain ? { api, id: recording.id, events, generated, counted: counted!, countedAt } : undefined;
}

/** What of the events of both formats the test reads. */
interface Data {
  choices?: {
    finish_reason?: string | null;
    delta?: {
      content?: unknown;
      reasoning_content?: string | null;
      reasoning?: string | null;
      tool_calls?: { function?: { arguments?: string } }[] | null;
    };
  }[];
  message?: { usage?: { output_tokens?: number } };
  delta?: { text?: string; thinking?: string; partial_json?: string };
  usage?: {
    completion_tokens?: number;
    output_tokens?: number;
    completion_tokens_details?: { reasoning_tokens?: number } | null;
  } | null;
}

function dataOf(event: Uint8Array): Data[] {
  const lines = Buffer.from(event).toString().split(/\r?\n/);
  const texts = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim());
  return texts.filter((text) => text.startsWith("{")).map((text) => JSON.parse(text) as Data);
}

const reasoningCount = ({ usage }: Data) => usage?.completion_tokens_details?.reasoning_tokens ?? 0;
const size = (text: unknown) => (typeof text === "string" ? Buffer.byteLength(text) : 0);

function chatBytes({ choices = [] }: Data): number {
  return choices.reduce((sum, { delta = {} }) => {
    const calls = delta.tool_calls ?? [];
    const of = calls.reduce((total, call) => total + size(call.function?.arguments), 0);
    return sum + of + size(delta.content) + size(delta.reasoning_content ?? delta.reasoning);
  }, 0);
}

function messagesBytes({ delta = {} }: Data): number {
  return size(delta.text) + size(delta.thinking) + size(delta.partial_json);
}

let gateway: BookedGateway;
let upstream: Upstream;

beforeAll(async () => {
  streams = [...streamsOf("chat"), ...streamsOf("messages")];
  upstream = startUpstream(({ body }) => {
    const [, stream = "0", left = "0"] = /leave (\d+) at (\d+)/.exec(body.toString()) ?? [];
    const { events } = streams[Number(stream)]!;
    return { ...sse([...events.slice(0, Number(left)), LEAVE]), ending: "stall" };
  });
  const prices = { input: 0, cacheRead: 0, cacheWrite: 0, output: PRICE };
  gateway = await startBooked(
    {
      providers: {
        chatty: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["chatty/*"] },
        messy: { baseUrl: upstream.url, speaks: "messages", models: ["messy/*"] },
      },
      prices: { "chatty/*": prices, "messy/*": prices },
    },
    [budget("all", 100 * DOLLAR)],
  );
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

async function leave(api: Api, stream: number, events: number): Promise<void> {
  const controller = new AbortController();
  const response = await fetch(`${gateway.url}/v1/${api === "chat" ? "chat/completions" : "messages"}`, {
    method: "POST",
    signal: controller.signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: api === "chat" ? "chatty/m" : "messy/m",
      stream: true,
      max_tokens: 1000,
      messages: [{ role: "user", content: `leave ${stream} at ${events}` }],
    }),
  });
  let text = "";
  for await (const piece of response.body!) {
    text += Buffer.from(piece).toString();
    if (text.includes(LEAVE)) break;
  }
  controller.abort();
}

test("a client that leaves a recorded stream behind any event is charged for what was generated, in one row", async () => {
  if (!haveRecordings) return console.warn(NO_RECORDINGS);
  expect(streams.length).toBe(2 * STREAMS_OF_AN_API);
  const left: { stream: Stream; events: number }[] = [];
  for (const [index, stream] of streams.entries())
    for (let events = 1; events <= stream.events.length; events++) {
      await leave(stream.api, index, events);
      left.push({ stream, events });
      await until(
        () => gateway.log.filter((line) => line.includes('"status":200')).length === left.length,
        5000,
        () => `the call that left ${stream.id} at ${events} has not ended`,
      );
    }
  const { calls, spent } = await gateway.finish();
  expect(calls.length).toBe(left.length);
  expect(spent.get(budgetAccount("all", 0))).toBe(calls.reduce((sum, { cost }) => sum + cost, 0));
  const wrong = left.flatMap(({ stream, events }, at) => {
    const { cost, state } = calls[at]!;
    const booked = cost / (PRICE * 1000);
    const isCounted = events >= stream.countedAt;
    const generated = isCounted ? stream.counted : stream.generated[events - 1]!;
    const [least, most] = isCounted
      ? [generated, generated]
      : [generated * 0.95 - 1, generated * 1.1 + 1 + GAP];
    const isRight = CHARGE_STATES[state] === (isCounted ? "metered" : "estimated");
    if (isRight && booked >= least && booked <= most) return [];
    return [
      { id: stream.id, events, of: stream.events.length, booked, generated, state: CHARGE_STATES[state] },
    ];
  });
  expect(wrong).toEqual([]);
});
