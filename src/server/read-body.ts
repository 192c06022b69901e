/** Reads a request body within the limits of size and time. A body that stalls ends with the deadline of its {@link Upload}. */
import { GatewayError, invalidRequest } from "../core/error.ts";
import type { RequestCheck } from "../core/format.ts";
import type { Clock, Watcher } from "../gateway/delivery/clock.ts";
import { release } from "../stream/release.ts";
import { RequestBody } from "./request-body.ts";

export interface BodyLimits extends UploadLimits {
  bodyBytes: number;
  depth: number;
}

/** Gets a body: exactly one of its methods is called, once. They must not throw. */
export interface BodyReceiver {
  body(body: RequestBody): void;
  /** @param thrown GatewayError for a wrong content type, a body that is too large, too slow, or not one JSON object */
  failed(thrown: unknown): void;
}

/** The same as {@link readBodyTo}. @throws GatewayError as that gives to its receiver */
export function readBody(
  request: Request,
  limits: BodyLimits,
  clock: Clock,
  check?: Pick<RequestCheck, "anyMediaType">,
): Promise<RequestBody> {
  return new Promise((resolve, reject) =>
    readBodyTo(request, limits, clock, check, { body: resolve, failed: reject }),
  );
}

/** Reads a body that is no request of a format. @throws GatewayError for one that is too large or too slow */
export function readPlain(request: Request, limits: BodyLimits, clock: Clock): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(clock, limits, { failed: reject });
    try {
      readBytes(request, limits.bodyBytes, upload).then(
        (bytes) => upload.arrived() && resolve(bytes),
        (thrown: unknown) => upload.failed(thrown),
      );
    } catch (thrown) {
      upload.failed(thrown);
    }
  });
}

/**
 * The body of a request as it arrives. It may be paused between two pieces as long as the time of the upload lasts.
 * @throws GatewayError at once for a declared length beyond the limit; later for a body that is too large, too slow, or broken off
 */
export function readStream(
  request: Request,
  limits: BodyLimits,
  clock: Clock,
): AsyncGenerator<Uint8Array, void, undefined> {
  const limit = limits.bodyBytes;
  if (Number(request.headers.get("content-length") ?? 0) > limit)
    throw tooLarge(limit, { connection: "close" });
  const encoding = encodingOf(request);
  const plain = request.body ?? new Blob([]).stream();
  if (encoding !== "identity") return piecesOf(decoded(plain, encoding), limits, clock);
  return piecesOf(plain, limits, clock, Number(request.headers.get("content-length") ?? 0));
}

const BROKE_OFF = "The request body broke off.";

/** @param least bytes that the client has declared */
async function* piecesOf(
  stream: ReadableStream<Uint8Array>,
  limits: BodyLimits,
  clock: Clock,
  least = 0,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  let late: unknown;
  // A read that waits ends with it.
  const failed = (thrown: unknown) => {
    late = thrown;
    void reader.cancel(thrown).catch(() => {});
  };
  const upload = new Upload(clock, limits, { failed });
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (late !== undefined) throw late;
      if (done && size < least) throw invalidRequest(BROKE_OFF);
      if (done) return;
      size += value.length;
      if (size > limits.bodyBytes) throw tooLarge(limits.bodyBytes, { connection: "close" });
      upload.credit(value.length);
      yield value;
      release(value);
    }
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    throw invalidRequest(BROKE_OFF);
  } finally {
    upload.arrived();
    void reader.cancel().catch(() => {});
  }
}

/** @param check of the format whose request it is */
export function readBodyTo(
  request: Request,
  limits: BodyLimits,
  clock: Clock,
  { anyMediaType }: Pick<RequestCheck, "anyMediaType"> = {},
  receiver: BodyReceiver,
): void {
  const upload = new Upload(clock, limits, receiver);
  const ended = (bytes: Uint8Array) => {
    if (!upload.arrived()) return;
    let body: RequestBody;
    try {
      body = new RequestBody(bytes, limits.depth);
    } catch (thrown) {
      return receiver.failed(thrown);
    }
    receiver.body(body);
  };
  try {
    // Web pages may send other types to any address without asking first (CORS), and say that they are pages.
    if (!anyMediaType || request.headers.has("origin")) checkContentType(request.headers.get("content-type"));
    readBytes(request, limits.bodyBytes, upload).then(ended, (thrown: unknown) => upload.failed(thrown));
  } catch (thrown) {
    upload.failed(thrown);
  }
}

function checkContentType(type: string | null): void {
  if (type === "application/json") return;
  const media = (type ?? "").split(";")[0]!.trim().toLowerCase();
  if (media === "application/json" || (media.startsWith("application/") && media.endsWith("+json"))) return;
  throw new GatewayError(
    "unsupported-media-type",
    `The content type must be application/json, but is ${media === "" ? "missing" : `"${media.slice(0, 80)}"`}.`,
  );
}

/** Up to this declared length weir reads a body with one call: faster, but without the upload's progress. Bytes. */
const MAX_SINGLE_READ = 512 * 1024;

function readBytes(request: Request, limit: number, upload: Upload): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  const length = declared === null ? Infinity : Number(declared);
  if (declared !== null && length > limit) throw tooLarge(limit);
  const encoding = encodingOf(request);
  if (encoding === "identity" && length <= MAX_SINGLE_READ) {
    upload.credit(length);
    return request.bytes();
  }
  if (!request.body) return Promise.resolve(new Uint8Array(0));
  if (encoding === "identity") return collect(request.body, () => limit, encoding, upload);
  const compressed = { bytes: 0 };
  const uncompressed = decoded(counted(request.body, compressed), encoding);
  return collect(
    uncompressed,
    () => Math.min(limit, EXEMPT_BYTES + compressed.bytes * MAX_RATIO),
    encoding,
    upload,
  );
}

/**
 * Highest ratio of decompressed to compressed size: JSON reaches 20, a decompression bomb 1000. The first megabyte is exempt.
 */
const MAX_RATIO = 50;
const EXEMPT_BYTES = 1 << 20;

function counted(
  body: ReadableStream<Uint8Array>,
  compressed: { bytes: number },
): ReadableStream<Uint8Array> {
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      compressed.bytes += chunk.length;
      controller.enqueue(chunk);
    },
  });
  return body.pipeThrough(count);
}

const DECODERS: Record<string, string> = {
  gzip: "gzip",
  "x-gzip": "gzip",
  deflate: "deflate",
  br: "brotli",
  zstd: "zstd",
};

function decoded(body: ReadableStream<Uint8Array>, encoding: string): ReadableStream<Uint8Array> {
  const format = DECODERS[encoding];
  if (!format)
    throw new GatewayError(
      "unsupported-media-type",
      `The content encoding "${encoding.slice(0, 40)}" is not supported; send gzip, deflate, br, zstd or no encoding.`,
    );
  const stream = new DecompressionStream(format as CompressionFormat);
  return body.pipeThrough(stream as unknown as ReadableWritablePair<Uint8Array, Uint8Array>);
}

/** Reads a whole stream. It counts the decompressed bytes, so that neither a chunked body nor a bomb exceeds the limit. */
async function collect(
  stream: ReadableStream<Uint8Array>,
  limit: () => number,
  encoding: string,
  upload: Upload,
): Promise<Uint8Array> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  upload.onLate = (error) => void reader.cancel(error).catch(() => {});
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return Buffer.concat(chunks);
      size += value.length;
      if (size > limit()) throw tooLarge(limit());
      upload.credit(value.length);
      chunks.push(value);
    }
  } catch (cause) {
    void reader.cancel(cause).catch(() => {});
    if (cause instanceof GatewayError) throw cause;
    throw invalidRequest(`The request body could not be read as ${encoding}.`);
  }
}

function encodingOf({ headers }: Request): string {
  return headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
}

function tooLarge(limit: number, headers?: Record<string, string>): GatewayError {
  return new GatewayError("too-large", `The request body is larger than ${limit} bytes.`, {
    code: "request_too_large",
    ...(headers && { headers }),
  });
}

export interface UploadLimits {
  /** Base time. Milliseconds. */
  bodyMs: number;
  /** Minimum rate after the base time. Bytes per second. */
  bodyRate: number;
}

/**
 * The deadline of a request body: `bodyMs`, extended by one second for every `bodyRate` bytes received. A client whose upload
 * stalls would occupy a connection and memory.
 */
export class Upload implements Watcher {
  place: number | undefined = undefined;
  readonly #clock: Clock;
  readonly #limits: UploadLimits;
  readonly #startedAt = performance.now();
  #bytes = 0;
  /** Absent when it was told, or the body has arrived. */
  #receiver: Pick<BodyReceiver, "failed"> | undefined;
  /** Called when the body does not arrive in time. */
  onLate?: (error: GatewayError) => void;

  constructor(clock: Clock, limits: UploadLimits, receiver: Pick<BodyReceiver, "failed">) {
    this.#clock = clock;
    this.#limits = limits;
    this.#receiver = receiver;
    clock.add(this);
  }

  /** Extends the deadline for bytes that have arrived, or that the client has declared. */
  credit(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The body has arrived. @returns false if it is late, and its receiver knows */
  arrived(): boolean {
    return this.#end() !== undefined;
  }

  failed(thrown: unknown): void {
    this.#end()?.failed(thrown);
  }

  #end(): Pick<BodyReceiver, "failed"> | undefined {
    this.#clock.remove(this);
    const receiver = this.#receiver;
    this.#receiver = undefined;
    return receiver;
  }

  /** Fails with status 408, which closes the connection. */
  tick(now: number): void {
    const { bodyMs, bodyRate } = this.#limits;
    if (now - this.#startedAt <= bodyMs + (this.#bytes / bodyRate) * 1000) return;
    const error = new GatewayError(
      "timeout",
      "The request body did not arrive in time; send it without pauses.",
      {
        status: 408,
        code: "request_timeout",
        headers: { connection: "close" },
      },
    );
    this.failed(error);
    this.onLate?.(error);
  }
}
