/**
 * Replays recorded exchanges through the native lane: SDK → gateway → a fake upstream that gives the recorded answer,
 * and the same call without the gateway beside it.
 */
import { UPSTREAM_KEYS, type RunningGateway } from "../helpers/gateway.ts";
import { noModels } from "./plain-answer.ts";
import { startReplayed } from "./plant.ts";
import {
  answerBytes,
  answerHeaders,
  CHUNKINGS,
  cutInto,
  seedOf,
  type Chunking,
  type Recording,
} from "../helpers/recordings.ts";
import {
  startUpstream,
  json,
  type Answer,
  type Piece,
  type Upstream,
  type UpstreamRequest,
} from "../helpers/upstream.ts";
import { callWithSdk, requestBody, writeBody, type RequestBody } from "./call.ts";
import { differences, differencesFromPolicy } from "./compare.ts";
import { headerFaults, sentHeaders } from "./headers.ts";
import {
  expectationOf,
  mayArrive,
  nativeText,
  shownTo,
  vendorFaults,
  type Api,
  type Expectation,
  withKnownLimit,
} from "./policy.ts";
import { CHAT_VENDORS, chatVendorsPlugin, traitsOf, recordedProviders } from "./vendors.ts";

export interface Replay {
  recording: Recording;
  expectation: Expectation;
  /** How the answer arrived, or `undefined` for requests that are refused. */
  runs: { chunking: Chunking; faults: string[] }[];
}

/** Calls under way at a time. */
const AT_ONCE = 24;

const PATH: Record<Api, string> = { chat: "/v1/chat/completions", messages: "/v1/messages" };
/** Names the built-in providers claim without a prefix. */
const BARE: Record<Api, RegExp> = { chat: /^gpt-[45]/, messages: /^claude-/ };

interface Expected {
  recording: Recording;
  /** The body that has to arrive. */
  text: string;
  headers: Record<string, string>;
  answer: Answer;
  /** What was wrong with what arrived; absent until it did. */
  faults?: string[];
}

/** Replays the recordings, several at once, over one gateway and one upstream. */
export async function replayNative(
  list: readonly Recording[],
  chunkings?: readonly Chunking[],
): Promise<Replay[]> {
  const expected = new Map<string, Expected>();
  const upstream = startUpstream((request) => {
    if (request.method === "GET") return noModels();
    const body = request.body.toString("utf8");
    const found = expected.get(MARK.exec(body)?.[0] ?? "");
    if (!found) return json({ error: { message: "no recording has this model" } }, 501);
    found.faults = arrivalFaults(found, request, body);
    return found.answer;
  });
  const gateway = await startReplayed({
    config: {
      providers: recordedProviders(upstream.url),
      log: { level: "warn", format: "json" },
      // Each recording is given once.
      retries: { attempts: 1 },
      // A heartbeat and a head without an answer are no bytes of the recording; on a busy machine single bytes take long.
      timeouts: { heartbeatMs: 600_000, holdMs: 600_000 },
    },
    plugins: { "shipped.ts": chatVendorsPlugin(upstream.url) },
  });
  try {
    const lane = new Lane(gateway, upstream, expected);
    return await eachOf(list, (recording) => lane.replay(recording, chunkings));
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}

/** Stands at the end of the model name and in no other call. */
const MARK = /-n\d+n(?=")/;

/** How the request differs from what was sent, but for what the lane may change. */
function arrivalFaults(expected: Expected, request: UpstreamRequest, body: string): string[] {
  const { recording } = expected;
  const api = recording.api as Api;
  const faults = request.path === PATH[api] ? [] : [`the path is ${request.path}`];
  faults.push(...vendorFaults(providerOf(recording), JSON.parse(body) as RequestBody));
  if (!mayArrive(recording, expected.text, body)) faults.push(...differentText(expected.text, body));
  const provider = providerOf(recording);
  const key = provider === "openai" || provider === "anthropic" ? UPSTREAM_KEYS[provider] : undefined;
  const call = { client: api, upstream: api, stream: recording.framing === "sse", key };
  return [...faults, ...headerFaults(call, expected.headers, request.headers)];
}

function differentText(wanted: string, got: string): string[] {
  let at = 0;
  while (at < got.length && wanted[at] === got[at]) at++;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 60));
  return [`the request differs at ${at}: ${around(wanted)} became ${around(got)}`];
}

/** The shipped provider of a recording's vendor; those of vendors nobody ships go to the two big ones. */
function providerOf({ api, vendor }: Recording): string {
  if (api === "messages") return "anthropic";
  return CHAT_VENDORS.includes(vendor) ? vendor : "openai";
}

/** Runs the task over all items, several at once; results in the order of the items. */
export async function eachOf<Item, Result>(
  list: readonly Item[],
  task: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async () => {
    while (next < list.length) {
      const index = next++;
      results[index] = await task(list[index]!);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

class Lane {
  readonly #gateway: RunningGateway;
  readonly #upstream: Upstream;
  readonly #expected: Map<string, Expected>;
  #serial = 1 << 12;

  constructor(gateway: RunningGateway, upstream: Upstream, expected: Map<string, Expected>) {
    this.#gateway = gateway;
    this.#upstream = upstream;
    this.#expected = expected;
  }

  async replay(recording: Recording, chunkings = chunkingsOf(recording)): Promise<Replay> {
    const body = requestBody(recording);
    const expectation = expectationOf(recording, body);
    if (expectation.kind === "refused")
      return { recording, expectation, runs: [await this.#refused(recording, body)] };
    const shown = asksUsage(recording) ? shownTo(recording, body) : recording;
    const direct = await this.#direct(shown, body);
    const runs: Replay["runs"] = [];
    for (const chunking of chunkings) {
      const through = await this.#through(recording, body, chunking);
      const faults =
        expectation.kind === "same"
          ? differences(shown, direct, through)
          : differencesFromPolicy(recording, expectation, through);
      const secrets = secretsIn(through.wire, this.#gateway, this.#upstream);
      runs.push({ chunking, faults: [...through.arrival, ...faults, ...secrets] });
    }
    return { recording, expectation, runs };
  }

  async #direct(recording: Recording, body: RequestBody) {
    const serial = this.#serial++;
    const model = `${body.model}-n${serial}n`;
    const { headers, text } = this.#expect(recording, body, model, serial, "whole");
    return callWithSdk(recording.api as Api, this.#upstream.url, body, text, headers);
  }

  async #through(recording: Recording, body: RequestBody, chunking: Chunking) {
    const api = recording.api as Api;
    const serial = this.#serial++;
    const model = `${body.model}-n${serial}n`;
    const provider = providerOf(recording);
    const isOwn = provider === "openai" || provider === "anthropic";
    const bare = isOwn && BARE[api].test(model) && serial % 2 === 0;
    const expected = this.#expect(recording, body, model, serial, chunking);
    if (asksUsage(recording)) expected.text = nativeText(api, body, expected.text);
    // The other providers take the address of the fake upstream for their own.
    if (provider === "openai") expected.text = withKnownLimit(api, body, expected.text);
    const text = writeBody(body, bare ? model : `${provider}/${model}`, serial);
    const outcome = await callWithSdk(api, this.#gateway.url, body, text, expected.headers);
    return { ...outcome, arrival: expected.faults ?? ["the request did not reach the upstream"] };
  }

  async #refused(recording: Recording, body: RequestBody): Promise<Replay["runs"][number]> {
    const api = recording.api as Api;
    const text = writeBody(body, `${providerOf(recording)}/${body.model}`, this.#serial++);
    const { wire } = await callWithSdk(api, this.#gateway.url, body, text);
    const faults = wire?.status === 400 ? [] : [`status ${wire?.status}, not 400`];
    const mark = text.slice(0, text.indexOf('"'));
    if (this.#upstream.requests.some((request) => request.body.includes(mark)))
      faults.push("the upstream was called");
    return { chunking: "whole", faults };
  }

  #expect(
    recording: Recording,
    body: RequestBody,
    model: string,
    serial: number,
    chunking: Chunking,
  ): Expected {
    const { status } = recording.response;
    const expected: Expected = {
      recording,
      text: writeBody(body, model, serial),
      headers: sentHeaders(recording, serial),
      answer: {
        status,
        headers: answerHeaders(recording),
        body: arriving(recording, chunking),
        framing: "chunked",
      },
    };
    this.#expected.set(`-n${serial}n`, expected);
    return expected;
  }
}

/** Whether the provider of a recording may be asked for token counts in the client's place. */
function asksUsage(recording: Recording): boolean {
  return traitsOf(`${providerOf(recording)}/`).streamOptions !== false;
}

/** Streams at every chunking; a JSON answer has no events. */
export function chunkingsOf(recording: Recording): readonly Chunking[] {
  return recording.framing === "sse" ? CHUNKINGS : ["whole", "random"];
}

/** The body piece by piece, with a turn of the event loop between two, so that they arrive as they were cut. */
export function arriving(recording: Recording, chunking: Chunking): Generator<Piece> {
  return arrivingBytes(answerBytes(recording), chunking, seedOf(recording.id));
}

/** @param seed decides the random places */
export function* arrivingBytes(bytes: Buffer, chunking: Chunking, seed: number): Generator<Piece> {
  for (const piece of piecesIn(bytes, chunking, seed)) {
    yield piece;
    if (chunking !== "whole") yield { wait: 0 };
  }
}

/** So many bytes at each end of a long body come one by one; what stands between them would take minutes. */
const SINGLE_BYTES = 600;

function piecesIn(bytes: Buffer, chunking: Chunking, seed: number): Uint8Array[] {
  const isLong = chunking === "byte" && bytes.length > 2 * SINGLE_BYTES;
  if (!isLong) return cutInto(bytes, chunking, seed);
  const [head, tail] = [bytes.subarray(0, SINGLE_BYTES), bytes.subarray(-SINGLE_BYTES)];
  const middle = bytes.subarray(SINGLE_BYTES, bytes.length - SINGLE_BYTES);
  return [...cutInto(head, "byte"), ...cutInto(middle, "random", seed), ...cutInto(tail, "byte")];
}

function secretsIn(
  wire: { headers: Headers; bytes: Buffer } | undefined,
  gateway: RunningGateway,
  upstream: Upstream,
) {
  if (!wire) return [];
  const text = `${JSON.stringify([...wire.headers])}${wire.bytes.toString("latin1")}`;
  const secrets = [...Object.values(UPSTREAM_KEYS), `127.0.0.1:${upstream.port}`, gateway.folder];
  return secrets.filter((secret) => text.includes(secret)).map((secret) => `the answer shows ${secret}`);
}
