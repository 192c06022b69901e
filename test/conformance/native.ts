/**
 * Replays recorded exchanges through the native lane: SDK → gateway → a fake upstream that gives the recorded answer,
 * and the same call without the gateway beside it.
 */
import { startGateway, upstreamConfig, UPSTREAM_KEYS, type RunningGateway } from "../helpers/gateway.ts";
import {
  answerBytes,
  answerHeaders,
  CHUNKINGS,
  cutInto,
  seedOf,
  type Chunking,
  type Recording,
} from "../helpers/recordings.ts";
import { startUpstream, json, type Answer, type Piece, type Upstream } from "../helpers/upstream.ts";
import { callWithSdk, requestBody, writeBody, type RequestBody } from "./call.ts";
import { differences, differencesFromPolicy } from "./compare.ts";
import { expectationOf, nativeText, shownTo, type Api, type Expectation } from "./policy.ts";

export interface Replay {
  recording: Recording;
  expectation: Expectation;
  /** How the answer arrived, or `undefined` for requests that are refused. */
  runs: { chunking: Chunking; faults: string[] }[];
}

/** Calls under way at a time. */
const AT_ONCE = 24;

/** What the client writes before the model name, by API. */
const PROVIDER: Record<Api, string> = { chat: "openai", messages: "anthropic" };
const PATH: Record<Api, string> = { chat: "/v1/chat/completions", messages: "/v1/messages" };
/** Names the built-in providers claim without a prefix. */
const BARE: Record<Api, RegExp> = { chat: /^gpt-[45]/, messages: /^claude-/ };

interface Expected {
  path: string;
  answer: Answer;
}

/** Replays the recordings, several at once, over one gateway and one upstream. */
export async function replayNative(list: readonly Recording[]): Promise<Replay[]> {
  const expected = new Map<string, Expected>();
  const upstream = startUpstream((request) => {
    const body = request.body.toString("utf8");
    const found = expected.get(body);
    if (!found || found.path !== request.path)
      return json({ error: { message: "no recording has these bytes" } }, 501);
    expected.delete(body);
    return found.answer;
  });
  const gateway = await startGateway({
    config: {
      ...upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
      log: { level: "warn", format: "json" },
      // Each recording is given once.
      retries: { attempts: 1 },
    },
  });
  try {
    const lane = new Lane(gateway, upstream, expected);
    return await eachOf(list, (recording) => lane.replay(recording));
  } finally {
    await gateway.stop();
    upstream.stop();
  }
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

  async replay(recording: Recording): Promise<Replay> {
    const body = requestBody(recording);
    const expectation = expectationOf(recording, body);
    if (expectation.kind === "refused")
      return { recording, expectation, runs: [await this.#refused(recording, body)] };
    const shown = shownTo(recording, body);
    const direct = await this.#direct(shown, body);
    const runs: Replay["runs"] = [];
    for (const chunking of chunkingsOf(recording)) {
      const through = await this.#through(recording, body, chunking);
      const faults =
        expectation.kind === "same"
          ? differences(shown, direct, through)
          : differencesFromPolicy(recording, expectation, through);
      runs.push({ chunking, faults: [...faults, ...secretsIn(through.wire, this.#gateway, this.#upstream)] });
    }
    return { recording, expectation, runs };
  }

  async #direct(recording: Recording, body: RequestBody) {
    const text = writeBody(body, body.model, this.#serial++);
    this.#expect(recording, text, "whole");
    return callWithSdk(recording.api as Api, this.#upstream.url, body, text);
  }

  async #through(recording: Recording, body: RequestBody, chunking: Chunking) {
    const api = recording.api as Api;
    const serial = this.#serial++;
    const bare = BARE[api].test(body.model) && serial % 2 === 0;
    this.#expect(recording, nativeText(api, body, writeBody(body, body.model, serial)), chunking);
    const text = writeBody(body, bare ? body.model : `${PROVIDER[api]}/${body.model}`, serial);
    return callWithSdk(api, this.#gateway.url, body, text);
  }

  async #refused(recording: Recording, body: RequestBody): Promise<Replay["runs"][number]> {
    const api = recording.api as Api;
    const text = writeBody(body, `${PROVIDER[api]}/${body.model}`, this.#serial++);
    const { wire } = await callWithSdk(api, this.#gateway.url, body, text);
    const faults = wire?.status === 400 ? [] : [`status ${wire?.status}, not 400`];
    const mark = text.slice(0, text.indexOf('"'));
    if (this.#upstream.requests.some((request) => request.body.includes(mark)))
      faults.push("the upstream was called");
    return { chunking: "whole", faults };
  }

  #expect(recording: Recording, text: string, chunking: Chunking): void {
    const headers = answerHeaders(recording);
    const { status } = recording.response;
    this.#expected.set(text, {
      path: PATH[recording.api as Api],
      answer: { status, headers, body: arriving(recording, chunking), framing: "chunked" },
    });
  }
}

/** Streams at every chunking; a JSON answer has no events. */
export function chunkingsOf(recording: Recording): readonly Chunking[] {
  return recording.framing === "sse" ? CHUNKINGS : ["whole", "random"];
}

/** The body piece by piece, with a turn of the event loop between two, so that they arrive as they were cut. */
export function* arriving(recording: Recording, chunking: Chunking): Generator<Piece> {
  for (const piece of cutInto(answerBytes(recording), chunking, seedOf(recording.id))) {
    yield piece;
    if (chunking !== "whole") yield { wait: 0 };
  }
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
