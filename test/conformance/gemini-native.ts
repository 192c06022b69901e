/** Replays recorded exchanges of Gemini clients with a Gemini upstream: only the address and the credentials may differ. */
import { parseJson } from "../../src/core/json.ts";
import { answerBytes, type Chunking, type Recording } from "../helpers/recordings.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { json, startUpstream, type UpstreamRequest } from "../helpers/upstream.ts";
import { writeBody } from "./call.ts";
import { geminiRecords, geminiRefusal, readGemini } from "./gemini-reading.ts";
import { CLIENT_KEY } from "./headers.ts";
import type { HostReplay } from "./host-answers.ts";
import { answerOf, HOST_KEY, hostsConfig, MARK } from "./hosts.ts";
import { eachOf } from "./native.ts";
import { startReplayed } from "./plant.ts";
import type { Value } from "./said.ts";

/** Addresses that Google's SDKs use. */
const PREFIXES = [
  "/v1beta/models/",
  "/v1/models/",
  "/v1beta1/publishers/google/models/",
  "/v1beta1/projects/some-project/locations/global/publishers/google/models/",
];

interface Expected {
  recording: Recording;
  chunking: Chunking;
  text: string;
  model: string;
  faults?: string[];
}

/** Replays each exchange once in each chunking. */
export async function replayGeminiNative(
  list: readonly Recording[],
  chunkings: readonly Chunking[] = ["whole", "event", "random", "byte"],
): Promise<HostReplay[]> {
  const expected = new Map<string, Expected>();
  const upstream = startUpstream((request) => {
    const found = expected.get(MARK.exec(request.path)?.[0] ?? "");
    if (!found) return json({ error: { code: 501, message: "no recording has this model" } }, 501);
    found.faults = arrivalFaults(found, request);
    return answerOf("gemini", asEvents(found.recording), found.chunking);
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
    const mark = `-x${serial}`;
    const host = recording.vendor === "vertex" ? "vertex-express" : "gemini";
    const model = `${recording.model ?? "gemini-2.5-flash"}${mark}`;
    const found: Expected = { recording, chunking, model, text: bodyOf(recording, serial) };
    expected.set(mark, found);
    const name = serial % 2 === 0 ? encodeURIComponent(`${host}/${model}`) : `${host}/${model}`;
    const response = await fetch(
      gateway.url + PREFIXES[serial++ % PREFIXES.length] + name + operationOf(recording),
      {
        method: "POST",
        headers: {
          "content-type": "application/json",
          connection: "close",
          "x-goog-api-key": CLIENT_KEY,
          cookie: "a=b",
        },
        body: found.text,
      },
    );
    const { bytes } = await readStreamed(response, true);
    const faults = found.faults ?? ["the request did not reach the upstream"];
    return [...faults, ...answerFaults(recording, response.status, bytes)].map(
      (fault) => `(${chunking}) ${fault}`,
    );
  };
  try {
    return await eachOf(list, async (recording) => {
      const faults: string[] = [];
      for (const chunking of recording.framing === "json" ? chunkings.slice(0, 1) : chunkings)
        faults.push(...(await replay(recording, chunking)));
      return { recording, faults, ...(isRefused(recording) && { refused: "502 in place of the answer" }) };
    });
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}

/** A client that does not ask for events gets an array. */
function operationOf({ framing }: Recording): string {
  if (framing === "json") return ":generateContent";
  return framing === "sse" ? ":streamGenerateContent?alt=sse" : ":streamGenerateContent";
}

/** weir asks for events, also for a client that wants an array. */
function asEvents(recording: Recording): Recording {
  if (recording.framing !== "json-array") return recording;
  const body = geminiRecords(recording)
    .map((record) => `data: ${JSON.stringify(record)}\r\n\r\n`)
    .join("");
  return { ...recording, framing: "sse", response: { ...recording.response, headers: {}, body } };
}

/** The recorded body, in one of several ways to write the same JSON, with blanks that no other call has. */
function bodyOf({ request, id }: Recording, serial: number): string {
  const contents = [
    { role: "user", parts: [{ text: `The request behind answer ${id} was not published.` }] },
  ];
  const body = { contents, ...request?.body };
  const text = writeBody({ ...body, model: "" }, "", serial);
  return text.replace(/,?\s*"model":\s*"",?/, "");
}

function arrivalFaults({ text, model, recording }: Expected, request: UpstreamRequest): string[] {
  const faults: string[] = [];
  const operation = recording.framing === "json" ? ":generateContent" : ":streamGenerateContent?alt=sse";
  const prefix = recording.vendor === "vertex" ? "/v1beta1/publishers/google/models/" : "/v1beta/models/";
  if (request.path !== `${prefix}${encodeURIComponent(model)}${operation}`)
    faults.push(`the path is ${request.path}`);
  if (request.body.toString("utf8") !== text) faults.push("the bytes of the request are not the client's");
  if (request.headers.get("x-goog-api-key") !== HOST_KEY) faults.push("the credential is not the gateway's");
  request.headers.forEach((value, name) => {
    if (value.includes(CLIENT_KEY) || name === "cookie") faults.push(`the header ${name} passed`);
  });
  return faults;
}

function answerFaults(recording: Recording, status: number, bytes: Buffer): string[] {
  const isOwn = isRefused(recording);
  const wanted = isOwn ? 502 : recording.response.status;
  const text = bytes.toString("utf8");
  const faults = status === wanted ? [] : [`status ${status}, not ${wanted}: ${text.slice(0, 200)}`];
  if (isOwn) return faults;
  if (recording.framing === "json-array") {
    const got = parseJson(text) as unknown as Value[];
    return Bun.deepEquals(got, geminiRecords(recording))
      ? faults
      : [...faults, "the array has other records"];
  }
  const recorded = answerBytes(recording).toString("utf8");
  if (
    recording.response.status === 200 &&
    geminiRefusal(recording) !== undefined &&
    recording.framing === "sse"
  )
    return text.startsWith(recorded) && ENDS_IN_ERROR.test(text)
      ? faults
      : [...faults, "the stream does not fail"];
  return text === recorded ? faults : [...faults, "the bytes are not the recorded ones"];
}

/** A refused credential of the gateway, and an answer that the model failed to write, are a 502. */
function isRefused(recording: Recording): boolean {
  const { status } = recording.response;
  if (status === 401 || status === 403) return true;
  if (status !== 200 || recording.framing !== "json" || geminiRefusal(recording) === undefined) return false;
  return readGemini(geminiRecords(recording)).calls.length === 0;
}

/** An error is the last record; comments may follow. */
const ENDS_IN_ERROR = /data: \{"error":\{.*\r?\n\r?\n((:|\{"error":\{.*)\n\n)*$/;
