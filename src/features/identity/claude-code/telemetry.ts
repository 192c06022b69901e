/**
 * What Claude Code measures of itself. Its exporter must always hear that all is well: weir hands the export on to a collector, with
 * the person and the path, or drops it.
 */
import { gunzipSync } from "node:zlib";
import type { Principal } from "../../../core/principal.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import type { ClaudeCodeConfig } from "../own/declarations.ts";
import { withAttributes } from "./otlp.ts";

export const SIGNALS = ["metrics", "logs", "traces"] as const;
export type Signal = (typeof SIGNALS)[number];

/** A larger export is dropped, packed or not. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_UNPACKED = 16 * 1024 * 1024;
/** Exports that are read, or on their way to the collector; more are dropped. */
const MOST_AT_ONCE = 16;
const SEND_MS = 5_000;
/** Of faults of the collector one in this time is logged. Milliseconds. */
const LOG_MS = 60_000;

export class Telemetry {
  readonly #host: Pick<WorkerHost, "fault">;
  readonly #url: string | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  #running = 0;
  #loggedAt = -Infinity;

  constructor({ telemetry, telemetryHeaders = {} }: ClaudeCodeConfig, host: Pick<WorkerHost, "fault">) {
    this.#host = host;
    this.#url = telemetry?.replace(/\/$/, "");
    this.#headers = Object.fromEntries(
      Object.entries(telemetryHeaders).map(([name, value]) => [name, value.reveal()]),
    );
  }

  /** Reads the whole export, and sends it on without waiting for that. It never throws. */
  async take(signal: Signal, request: Request, principal: Principal): Promise<void> {
    if (this.#url === undefined || this.#running >= MOST_AT_ONCE) return;
    this.#running++;
    const isJson = /^application\/json\b/i.test(request.headers.get("content-type") ?? "");
    const found = await exportOf(request, isJson, principal);
    if (found) void this.#send(`${this.#url}/v1/${signal}`, found, isJson);
    else this.#running--;
  }

  async #send(url: string, body: Uint8Array, isJson: boolean): Promise<void> {
    try {
      const { status } = await fetch(url, {
        ...{ method: "POST", body: body as BodyInit, redirect: "error" as const },
        headers: {
          ...this.#headers,
          "content-type": isJson ? "application/json" : "application/x-protobuf",
        },
        signal: AbortSignal.timeout(SEND_MS),
      });
      if (status >= 300) this.#fault(`answers ${status}`);
    } catch (cause) {
      this.#fault((cause as Error).name === "TimeoutError" ? "does not answer" : "cannot be reached");
    } finally {
      this.#running--;
    }
  }

  #fault(what: string): void {
    const now = Date.now();
    if (now - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = now;
    this.#host.fault(`identity: the collector of what Claude Code measures ${what}; its exports are dropped`);
  }
}

/** @returns undefined for one that cannot be read */
async function exportOf(
  request: Request,
  isJson: boolean,
  { person, path }: Principal,
): Promise<Uint8Array | undefined> {
  const attributes = { ...(person !== undefined && { "weir.person": person }), "weir.path": path };
  try {
    const body = await bodyOf(request);
    return body && withAttributes(body, isJson, attributes);
  } catch {
    // The client has left, or its JSON is too deep.
    return undefined;
  }
}

/** @returns undefined for one that is too large @throws Error for one that cannot be unpacked */
async function bodyOf(request: Request): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of request.body ?? []) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) return undefined;
    pieces.push(piece);
  }
  const body = Buffer.concat(pieces);
  const packing = request.headers.get("content-encoding") ?? "identity";
  if (packing === "identity") return body;
  return packing === "gzip" ? gunzipSync(body, { maxOutputLength: MOST_UNPACKED }) : undefined;
}
