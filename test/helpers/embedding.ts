/** A fake host of embeddings and what tests of embeddings ask. */
import { afterAll } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import { type GatewayOptions, type RunningGateway, startGateway } from "./gateway.ts";
import { type Handler, json, startUpstream, type Upstream } from "./upstream.ts";

export interface EmbeddingsBody extends JsonObject {
  model: string;
  input: string | string[];
  encoding_format?: string;
}

export const bodyOf = (request: { body: Uint8Array }) =>
  JSON.parse(Buffer.from(request.body).toString()) as EmbeddingsBody;

/** A vector by which a test recognises a text: by its digits, or by its length. No value is a round 32-bit float. */
export function vectorFor(text: unknown): number[] {
  const seed = typeof text === "string" ? Number(text.replace(/\D/g, "")) || text.length : 7;
  return [seed / 3, -0.1 * seed, 1e-7 * seed];
}

export const base64 = (vector: number[]) => Buffer.from(Float32Array.from(vector).buffer).toString("base64");

/**
 * Answers as OpenAI does, two tokens a text; the vectors come in reverse order, with their index.
 * @param encoding `asked`: as the request says
 */
export function embeds(encoding: "asked" | "float" | "base64" = "asked"): Handler {
  return (request) => {
    const { input, model, encoding_format } = bodyOf(request);
    const inputs = Array.isArray(input) ? input : [input];
    const isBase64 = encoding === "asked" ? encoding_format === "base64" : encoding === "base64";
    const data = inputs
      .map((text, index) => {
        const vector = vectorFor(text);
        return { object: "embedding", index, embedding: isBase64 ? base64(vector) : vector };
      })
      .reverse();
    const tokens = 2 * inputs.length;
    return json({ object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
  };
}

/** A config with one host of OpenAI's dialect, and what it can do. */
export function embeddingHost(url: string, endpoint: JsonObject = {}): { providers: JsonObject } {
  const embeddings = { path: "/embeddings", ...endpoint };
  return { providers: { host: { baseUrl: `${url}/v1`, embeds: { embeddings } } } };
}

/** Starts what a test needs, and stops all of it behind the last test of the file. */
export function makeEmbeddingStage() {
  const upstreams: Upstream[] = [];
  const gateways: RunningGateway[] = [];
  afterAll(async () => {
    for (const running of gateways) await running.stop();
    for (const running of upstreams) running.stop();
  });
  return {
    upstream(handler: Handler): Upstream {
      const started = startUpstream(handler);
      upstreams.push(started);
      return started;
    },
    async gateway(config: Record<string, unknown>, options: GatewayOptions = {}): Promise<RunningGateway> {
      const started = await startGateway({ config, ...options });
      gateways.push(started);
      return started;
    },
  };
}

export interface Embedded {
  status: number;
  headers: Headers;
  text: string;
  body: JsonObject & { data?: { index: number; embedding: number[] }[]; error?: JsonObject };
}

/** Asks a gateway for embeddings without an SDK. */
export async function askEmbeddings(
  url: string,
  body: JsonObject | string,
  headers: Record<string, string> = {},
): Promise<Embedded> {
  const response = await fetch(`${url}/v1/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: JSON.parse(text) as Embedded["body"],
  };
}

/** The fields of the log line of the last call. */
export async function lastLine({ log }: RunningGateway): Promise<Record<string, unknown>> {
  await Bun.sleep(80);
  const lines = log.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as object);
  return lines.findLast((line) => "outcome" in line) as Record<string, unknown>;
}
