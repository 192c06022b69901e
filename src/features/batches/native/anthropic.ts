/** Anthropic's batch API: the requests are in the body that creates a batch, and it has no place for a mark but their ids. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { scanBody } from "../../../stream/scan.ts";
import type { BatchHost, Found, HostCall, HostLine, HostLook, HostResult, Sought } from "./host.ts";
import { jsonOf, linesOf, objectsIn, textOf } from "./wire.ts";

/** Pages that are searched for a batch. */
const PAGES = 20;
/** Clocks of weir and of the host differ at most by this. Milliseconds. */
const SKEW_MS = 120_000;

const STATUSES: Readonly<Record<string, number>> = {
  ...{ invalid_request_error: 400, authentication_error: 401, billing_error: 402, permission_error: 403 },
  ...{ not_found_error: 404, request_too_large: 413, rate_limit_error: 429, api_error: 500 },
  ...{ timeout_error: 504, overloaded_error: 529 },
};

const encoder = new TextEncoder();
const COMMA = encoder.encode(",");
const END = encoder.encode("}");

export class AnthropicHost implements BatchHost {
  readonly limits = { lines: 100_000, bytes: 240_000_000 };
  readonly formats = ["messages"];

  /** The first request has the mark in its id. */
  async create(lines: readonly HostLine[], mark: string, call: HostCall): Promise<{ id: string }> {
    const bytes = lines.flatMap(({ key, body }, at) => {
      const id = at === 0 ? `${key}-${mark}` : key;
      const head = encoder.encode(`{"custom_id":"${id}","params":`);
      return at === 0 ? [head, body, END] : [COMMA, head, body, END];
    });
    const body = [encoder.encode('{"requests":['), ...bytes, encoder.encode("]}")];
    const made = await jsonOf(
      await call.ask("POST", batchesOf(call), { type: "application/json", bytes: body }),
    );
    return { id: textOf(made["id"]) };
  }

  /** Only results tell whose a batch is. */
  async find(sought: Sought, call: HostCall): Promise<Found> {
    const { mark, lines, since, known } = sought;
    let isUnsure = false;
    for await (const batch of this.#newer(since - SKEW_MS, call)) {
      const id = textOf(batch["id"]);
      if (known.has(id) || countOf(batch) !== lines) continue;
      if (batch["processing_status"] !== "ended") isUnsure = true;
      else if (await this.#has(id, mark, call)) return { id };
    }
    return isUnsure ? "later" : undefined;
  }

  /** Batches that were created later. @param since milliseconds since 1970 */
  async *#newer(since: number, call: HostCall): AsyncGenerator<JsonObject, void> {
    for (let page = 0, after = ""; page < PAGES; page++) {
      const listed = await jsonOf(await call.ask("GET", `${batchesOf(call)}?limit=100${after}`));
      for (const batch of objectsIn(listed["data"])) {
        if (Date.parse(textOf(batch["created_at"])) < since) return;
        yield batch;
      }
      const last = textOf(listed["last_id"]);
      if (listed["has_more"] !== true || last === "") return;
      after = `&after_id=${encodeURIComponent(last)}`;
    }
  }

  async #has(id: string, mark: string, call: HostCall): Promise<boolean> {
    for await (const { key } of this.results(id, call)) if (key.endsWith(`-${mark}`)) return true;
    return false;
  }

  async look(id: string, call: HostCall): Promise<HostLook> {
    const { processing_status: status } = await jsonOf(await call.ask("GET", pathOf(id, call)));
    return { state: status === "ended" ? "done" : "working" };
  }

  async *results(id: string, call: HostCall): AsyncGenerator<HostResult, void> {
    for await (const line of linesOf(await call.ask("GET", `${pathOf(id, call)}/results`))) {
      const result = resultOf(line);
      if (result) yield result;
    }
  }

  async cancel(id: string, call: HostCall): Promise<void> {
    await (await call.ask("POST", `${pathOf(id, call)}/cancel`)).bytes();
  }
}

/** Of the path of messages, without its query. */
function batchesOf({ path }: HostCall): string {
  return `${path.replace(/\?.*/, "")}/batches`;
}

function pathOf(id: string, call: HostCall): string {
  return `${batchesOf(call)}/${encodeURIComponent(id)}`;
}

function countOf({ request_counts: counts }: JsonObject): number {
  if (!isObject(counts)) return 0;
  return Object.values(counts).reduce<number>((sum, one) => sum + Number(one), 0);
}

/** A message keeps its bytes. */
function resultOf(line: Uint8Array): HostResult | undefined {
  const json = parseJson(Buffer.from(line).toString());
  if (!isObject(json) || !isObject(json["result"])) return undefined;
  const key = textOf(json["custom_id"]);
  const { type, message, error } = json["result"];
  if (type === "expired") return { key, without: "expired" };
  if (type === "canceled") return { key, without: "cancelled" };
  if (type === "succeeded") return { key, status: 200, body: messageIn(line) ?? JSON.stringify(message) };
  const inner = isObject(error) && isObject(error["error"]) ? error["error"] : error;
  const kind = isObject(inner) ? textOf(inner["type"]) : "";
  const body = JSON.stringify({ type: "error", error: inner ?? { type: "api_error", message: "no answer" } });
  return { key, status: STATUSES[kind] ?? 500, body };
}

function messageIn(line: Uint8Array): Uint8Array | undefined {
  const result = scanBody(line, Infinity).members.get("result");
  if (!result) return undefined;
  const bytes = line.subarray(result.start, result.end);
  const message = scanBody(bytes, Infinity).members.get("message");
  // The line is valid until the next one is read.
  return message && new Uint8Array(bytes.subarray(message.start, message.end));
}
