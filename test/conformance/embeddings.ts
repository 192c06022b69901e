/**
 * Replays recorded embeddings: requests in OpenAI's dialect to a host of the same dialect, where only the model may differ,
 * and answers of every dialect to the OpenAI SDK, which must read the same vectors and token counts in both encodings.
 */
import { answerBytes, answerHeaders, type Recording } from "../helpers/recordings.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { json, startUpstream } from "../helpers/upstream.ts";
import { writeBody, type RequestBody } from "./call.ts";
import type { HostReplay } from "./host-answers.ts";
import { HOST_KEY, hostsConfig, reachedBy } from "./hosts.ts";
import { eachOf } from "./native.ts";
import { noModels } from "./plain-answer.ts";
import { startReplayed } from "./plant.ts";
import { listOf, objectOf, textOf, type Value } from "./said.ts";

/** Providers that speak a dialect of their own, or have names of their own for options. */
const SHIPPED = ["openai", "mistral", "openrouter", "llamacpp", "voyage", "perplexity", "cohere"];

/** The provider and model of a recording; other vendors speak OpenAI's dialect as it is. */
function modelOf({ vendor, model }: Recording): string {
  const provider =
    vendor === "gemini" || vendor === "bedrock" || SHIPPED.includes(vendor) ? vendor : "vectors";
  return `${provider}/${model ?? "some-embedding-model"}`;
}

/** A gateway over recordings, each known by the end of its model name. */
async function withHosts(
  run: (url: string, mark: (recording: Recording) => Marked) => Promise<HostReplay[]>,
) {
  const answers = new Map<string, Marked>();
  const upstream = startUpstream((request) => {
    if (request.method === "GET") return noModels();
    const found = answers.get(reachedBy(request).mark);
    if (!found) return json({ error: { message: "no recording has this model" } }, 501);
    found.reached = request.body.toString("utf8");
    const { recording } = found;
    const { status } = recording.response;
    return { status, headers: answerHeaders(recording), body: answerBytes(recording) };
  });
  const own = SHIPPED.map((name): [string, unknown] => {
    const isCohere = name === "cohere";
    return [name, { baseUrl: isCohere ? upstream.url : `${upstream.url}/v1`, apiKey: HOST_KEY }];
  });
  const gateway = await startReplayed({
    target: "source",
    config: {
      providers: { ...hostsConfig(upstream.url), ...Object.fromEntries(own) },
      log: { level: "error", format: "json" },
      retries: { attempts: 1 },
    },
    plugins: { "vectors.ts": vectorsPlugin(`${upstream.url}/v1`) },
  });
  let serial = 0;
  try {
    return await run(gateway.url, (recording) => {
      const mark = `-x${serial++}`;
      const made: Marked = { recording, mark, serial };
      answers.set(mark, made);
      return made;
    });
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}

interface Marked {
  recording: Recording;
  mark: string;
  serial: number;
  /** The body that came. */
  reached?: string;
}

const vectorsPlugin = (url: string) => `import { definePlugin } from "weir";
export default definePlugin({
  name: "conformance-vectors",
  providers: [
    {
      name: "vectors",
      models: ["vectors/*"],
      baseUrl: ${JSON.stringify(url)},
      embeds: { embeddings: { path: "/embeddings", base64: true } },
    },
  ],
});
`;

/** Requests in OpenAI's dialect, to a host that speaks it. */
export function replayNativeEmbeddings(list: readonly Recording[]): Promise<HostReplay[]> {
  return withHosts((url, mark) =>
    eachOf(
      // Perplexity's 8-bit integers are converted for every client.
      list.filter(({ request, vendor }) => request?.body?.["input"] !== undefined && vendor !== "perplexity"),
      async (recording) => {
        const made = mark(recording);
        const body = recording.request!.body as RequestBody;
        const model = `${body.model}${made.mark}`;
        const response = await fetch(`${url}/v1/embeddings`, {
          method: "POST",
          headers: { "content-type": "application/json", connection: "close" },
          body: writeBody(body, `vectors/${model}`, made.serial),
        });
        const bytes = Buffer.from(await response.arrayBuffer());
        const { status } = recording.response;
        const wanted = status === 401 ? 502 : status;
        const faults =
          response.status === wanted ? [] : [`status ${response.status}, not ${wanted}: ${bytes.toString()}`];
        if (made.reached !== writeBody(body, model, made.serial)) faults.push("the request has other bytes");
        if (status === 200 && !withPromptTokens(answerBytes(recording)).equals(bytes))
          faults.push("the bytes are not the recorded ones");
        return { recording, faults, ...(status !== 200 && { refused: `status ${status}` }) };
      },
    ),
  );
}

/** The bytes of an answer; where they count in total alone, with the count that OpenAI's SDK reads behind it. */
function withPromptTokens(bytes: Buffer): Buffer {
  const text = bytes.toString("latin1");
  const written = /"usage":\s*(\{[^{}]*\})/.exec(text)?.[1];
  const usage = JSON.parse(written ?? "{}") as Record<string, number>;
  if (written === undefined || usage["prompt_tokens"] !== undefined) return bytes;
  const whole = JSON.stringify({ ...usage, prompt_tokens: usage["total_tokens"] });
  return Buffer.from(text.replace(written, whole), "latin1");
}

/** Answers of every dialect, read by the OpenAI SDK. */
export function replayEmbeddingAnswers(list: readonly Recording[]): Promise<HostReplay[]> {
  return withHosts((url, mark) =>
    eachOf(list.filter(isAskedFor), async (recording) => {
      const faults: string[] = [];
      const vectors = vectorsOf(recording);
      const { status } = recording.response;
      for (const encoding of [undefined, "float"] as const) {
        const model = modelOf(recording) + mark(recording).mark;
        const input = Array.from({ length: Math.max(1, vectors.length) }, (_, index) => `Text ${index}.`);
        const { embeddings } = openaiClient(url);
        const params = { model, input, ...(encoding && { encoding_format: encoding }) };
        const found = await embeddings.create(params).catch((thrown: unknown) => thrown as Error);
        if (found instanceof Error) {
          if (status === 200) faults.push(`the SDK threw ${found.message}`);
          continue;
        }
        if (status !== 200) faults.push(`an answer in spite of status ${status}`);
        const inPlace = found.data.toSorted((left, right) => left.index - right.index);
        inPlace.forEach(({ embedding, index }, place) => {
          if (index !== place || !areNear(embedding, vectors[place]!)) faults.push(`vector ${place} differs`);
        });
        const tokens = tokensOf(recording);
        if (found.data.length !== vectors.length)
          faults.push(`${found.data.length} of ${vectors.length} vectors`);
        // Voyage counts the total alone, and its bytes pass where it speaks the client's dialect.
        const counted = found.usage.prompt_tokens ?? found.usage.total_tokens;
        if (tokens !== undefined && counted !== tokens) faults.push(`usage: ${counted}, not ${tokens}`);
      }
      return { recording, faults, ...(status !== 200 && { refused: `status ${status}` }) };
    }),
  );
}

/** weir asks for no images, for no vector of one text alone, and in no dialect that is out of date. */
function isAskedFor({ request, response, model, vendor }: Recording): boolean {
  if (vendor === "bedrock") return /embed/.test(model ?? "");
  if (vendor === "ollama" || /\/v1\/embed$/.test(request?.path ?? "") || request?.body?.["images"])
    return false;
  return objectOf(JSON.parse(response.body ?? "{}"))["embedding"] === undefined;
}

/** The vectors of an answer in any dialect. */
function vectorsOf(recording: Recording): number[][] {
  const body = objectOf(JSON.parse(answerBytes(recording).toString("utf8")));
  if (recording.response.status !== 200) return [];
  const isBytes = recording.vendor === "perplexity";
  if (body["data"])
    return inOrder(listOf(body["data"])).map(({ embedding }) => numbersOf(embedding, isBytes));
  if (body["embedding"]) return [numbersOf(body["embedding"], false)];
  const all = body["embeddings"];
  const lists = Array.isArray(all) ? all : (objectOf(all)["float"] as unknown[]);
  return lists.map((each) =>
    numbersOf(Array.isArray(each) ? each : (objectOf(each)["values"] ?? objectOf(each)["embedding"]), false),
  );
}

function inOrder(items: Value[]): Value[] {
  return items.toSorted((left, right) => Number(left["index"]) - Number(right["index"]));
}

/** Numbers, or base64 of 32-bit floats or of 8-bit integers. */
function numbersOf(value: unknown, isBytes: boolean): number[] {
  if (Array.isArray(value)) return value as number[];
  const bytes = Buffer.from(textOf(value), "base64");
  if (isBytes) return Array.from(bytes, (_, at) => bytes.readInt8(at));
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}

/** Equal but for the rounding of 32-bit floats. */
function areNear(got: readonly number[], wanted: readonly number[]): boolean {
  return (
    got.length === wanted.length &&
    got.every((each, at) => Math.abs(each - wanted[at]!) <= 1e-6 * Math.max(1, Math.abs(each)))
  );
}

/** Tokens of all inputs, where the provider counts them. */
function tokensOf({ response }: Recording): number | undefined {
  const { usage, inputTextTokenCount, meta, usageMetadata } = objectOf(JSON.parse(response.body ?? "{}"));
  const header = response.headers["x-amzn-bedrock-input-token-count"];
  const { prompt_tokens: prompt, total_tokens: total } = objectOf(usage);
  const billed = objectOf(objectOf(meta)["billed_units"])["input_tokens"];
  const found =
    prompt ?? total ?? inputTextTokenCount ?? billed ?? objectOf(usageMetadata)["promptTokenCount"] ?? header;
  return found === undefined ? undefined : Number(found);
}
