/**
 * Replays recorded exchanges of Claude over Bedrock's InvokeModel: clients of the Messages format get the recorded bytes, with
 * the events of a stream taken out of the frames of AWS; the body reaches Bedrock as the client wrote it, but for what the
 * address says.
 */
import { isObject } from "../../src/core/json.ts";
import { parseFrames } from "../../src/stream/sse.ts";
import { answerBytes, type Chunking, type Recording } from "../helpers/recordings.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { json, startUpstream, type UpstreamRequest } from "../helpers/upstream.ts";
import { post } from "./clients.ts";
import { eventsIn } from "./converse-reading.ts";
import type { HostReplay } from "./host-answers.ts";
import { answerOf, HOST_KEY, hostsConfig, MARK } from "./hosts.ts";
import { eachOf } from "./native.ts";
import { startReplayed } from "./plant.ts";
import { textOf, type Value } from "./said.ts";

/** Whether an exchange is one of Claude in the Messages format: other models of InvokeModel have formats of their own. */
export function isOfClaude({ model, request }: Recording): boolean {
  const messages = request?.body?.["messages"];
  return /claude/.test(model ?? "") && Array.isArray(messages) && isObject(messages[0]);
}

/** The events of a stream: each frame holds one, in base64. */
export function invokedEvents(recording: Recording): Value[] {
  return eventsIn(answerBytes(recording)).map(
    ({ payload }) => JSON.parse(Buffer.from(textOf(payload["bytes"]), "base64").toString("utf8")) as Value,
  );
}

interface Expected {
  recording: Recording;
  chunking: Chunking;
  sent: Value;
  faults?: string[];
}

/** Replays each exchange once in each chunking. */
export async function replayInvoke(
  list: readonly Recording[],
  chunkings: readonly Chunking[] = ["whole", "random", "byte"],
): Promise<HostReplay[]> {
  const expected = new Map<string, Expected>();
  const upstream = startUpstream((request) => {
    const found = expected.get(MARK.exec(request.path)?.[0] ?? "");
    if (!found) return json({ message: "no recording has this model" }, 501);
    found.faults = arrivalFaults(found, request);
    return answerOf("bedrock_invoke", found.recording, found.chunking);
  });
  const gateway = await startReplayed({
    target: "source",
    config: {
      providers: hostsConfig(upstream.url),
      log: { level: "error", format: "json" },
      retries: { attempts: 1 },
      timeouts: { heartbeatMs: 600_000 },
    },
  });
  let serial = 0;
  const replay = async (recording: Recording, chunking: Chunking): Promise<string[]> => {
    const mark = `-x${serial++}`;
    const { anthropic_version: _, ...body } = recording.request!.body!;
    const stream = recording.framing !== "json";
    const sent = { ...body, model: `bedrock/${recording.model}${mark}`, ...(stream && { stream }) };
    const found: Expected = { recording, chunking, sent };
    expected.set(mark, found);
    const response = await post(`${gateway.url}/v1/messages`, sent);
    const { bytes, text } = await readStreamed(response, true);
    if (response.status !== 200) return [`(${chunking}) status ${response.status}: ${text.slice(0, 200)}`];
    const faults = found.faults ?? ["the request did not reach the upstream"];
    return [...faults, ...answerFaults(recording, bytes)].map((fault) => `(${chunking}) ${fault}`);
  };
  try {
    return await eachOf(list.filter(isOfClaude), async (recording) => {
      const faults: string[] = [];
      for (const chunking of recording.framing === "json" ? chunkings.slice(0, 1) : chunkings)
        faults.push(...(await replay(recording, chunking)));
      return { recording, faults };
    });
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}

function arrivalFaults({ sent, recording }: Expected, request: UpstreamRequest): string[] {
  const { model: _, stream, ...body } = sent;
  const faults: string[] = [];
  const operation = stream === true ? "/invoke-with-response-stream" : "/invoke";
  if (!request.path.endsWith(operation)) faults.push(`the path is ${request.path}`);
  const { anthropic_version: version, ...got } = JSON.parse(request.body.toString("utf8")) as Value;
  if (JSON.stringify(got) !== JSON.stringify(body)) faults.push("the body is not the client's");
  if (version !== "bedrock-2023-05-31")
    faults.push(`the version is ${String(version)}, not as ${recording.id} has it`);
  if (request.headers.get("authorization") !== `Bearer ${HOST_KEY}`)
    faults.push("the credential is not the gateway's");
  return faults;
}

function answerFaults(recording: Recording, bytes: Buffer): string[] {
  if (recording.framing === "json")
    return answerBytes(recording).equals(bytes) ? [] : ["the bytes are not the recorded ones"];
  const frames = parseFrames(bytes);
  const faults = frames.some(({ event, data }) => event !== (JSON.parse(data) as Value)["type"])
    ? ["an event has not the name of its type"]
    : [];
  const got = frames.map(({ data }) => JSON.parse(data) as Value);
  return Bun.deepEquals(got, invokedEvents(recording))
    ? faults
    : [...faults, "the events are not the recorded ones"];
}
