/** Reads the bytes of a request body once, within their limits. */
import { GatewayError, invalidRequest } from "../core/error.ts";
import { RequestBody } from "./request-body.ts";

export interface BodyLimits {
  bodyBytes: number;
  depth: number;
}

/** @throws GatewayError for a wrong content type, a body over its limits, and what is not one JSON object. */
export async function readBody(request: Request, limits: BodyLimits): Promise<RequestBody> {
  checkContentType(request.headers.get("content-type"));
  const bytes = await readBytes(request, limits.bodyBytes);
  return new RequestBody(bytes, limits.depth);
}

function checkContentType(type: string | null): void {
  const media = (type ?? "").split(";")[0]!.trim().toLowerCase();
  if (media === "application/json" || (media.startsWith("application/") && media.endsWith("+json"))) return;
  throw new GatewayError(
    "unsupported-media-type",
    `The content type must be application/json, but is ${media === "" ? "missing" : `"${media.slice(0, 80)}"`}.`,
  );
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > limit) throw tooLarge(limit);
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" && declared !== null) return new Uint8Array(await request.arrayBuffer());
  if (!request.body) return new Uint8Array(0);
  return collect(decoded(request.body, encoding), limit, encoding);
}

const DECODERS: Record<string, string> = {
  gzip: "gzip",
  "x-gzip": "gzip",
  deflate: "deflate",
  br: "brotli",
  zstd: "zstd",
};

function decoded(body: ReadableStream<Uint8Array>, encoding: string): ReadableStream<Uint8Array> {
  if (encoding === "identity") return body;
  const format = DECODERS[encoding];
  if (!format)
    throw new GatewayError(
      "unsupported-media-type",
      `The content encoding "${encoding.slice(0, 40)}" is not supported; send gzip, deflate, br, zstd or no encoding.`,
    );
  const stream = new DecompressionStream(format as CompressionFormat);
  return body.pipeThrough(stream as unknown as ReadableWritablePair<Uint8Array, Uint8Array>);
}

/** Counts what arrives and what it unpacks to, so that neither a chunked body nor a bomb passes the limit. */
async function collect(
  stream: ReadableStream<Uint8Array>,
  limit: number,
  encoding: string,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    throw invalidRequest(`The request body could not be read as ${encoding}.`);
  }
  return Buffer.concat(chunks);
}

function tooLarge(limit: number): GatewayError {
  return new GatewayError("too-large", `The request body is larger than ${limit} bytes.`, {
    code: "request_too_large",
  });
}
