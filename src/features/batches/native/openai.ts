/** OpenAI's batch API, and those that differ from it in little: a file of lines, a batch of it, a file of answers. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { scanBody } from "../../../stream/scan.ts";
import {
  type BatchHost,
  type Found,
  type HostCall,
  type HostLine,
  type HostLook,
  HostRefusal,
  type HostResult,
  type HostState,
  type Sought,
} from "./host.ts";
import { formOf, jsonBody, jsonOf, linesOf, objectsIn, textOf } from "./wire.ts";

/** How hosts of the family differ. */
export interface FileDialect {
  /** Path of batches behind the base URL. */
  readonly batches: string;
  /** The path of requests as lines and batches name it. @param path behind the base URL, without a query */
  endpoint(path: string): string;
  /** Members of the body that creates a batch, beside the mark. */
  body(file: string, endpoint: string, call: HostCall): JsonObject;
  /** The envelope of a line up to its body; `}` follows. */
  line(key: string, endpoint: string): string;
  /** How batches end, by their states in small letters. */
  readonly ends: Readonly<Record<string, HostState>>;
  /** Names of the members with the files of answers, and of errors. */
  readonly files: readonly string[];
  /** Fields of the form beside `purpose`. */
  readonly form: Readonly<Record<string, string>>;
  /** Query of a list of batches, newest first. @param after id of the last one of the page before */
  list(after: string | undefined, page: number): string;
}

const encoder = new TextEncoder();
const END = encoder.encode("}\n");
/** Pages that are searched for a batch. */
const PAGES = 10;
/** States of a file that a host still reads: Azure takes no batch of it. */
const READING: ReadonlySet<string> = new Set(["pending", "running"]);
/** Waits for a file that a host reads. Milliseconds. */
const FIRST_MS = 250;
const LONGEST_MS = 10_000;

export const OPENAI: FileDialect = {
  batches: "/batches",
  endpoint: (path) => `/v1${path}`,
  body: (file, endpoint) => ({ input_file_id: file, endpoint, completion_window: "24h" }),
  line: (key, endpoint) => `{"custom_id":"${key}","method":"POST","url":"${endpoint}","body":`,
  ends: { completed: "done", failed: "failed", expired: "expired", cancelled: "cancelled" },
  files: ["output_file_id", "error_file_id"],
  // Inputs and results are needed for as long as the batch runs.
  form: { "expires_after[anchor]": "created_at", "expires_after[seconds]": "2592000" },
  list: (after) => `?limit=100${after === undefined ? "" : `&after=${encodeURIComponent(after)}`}`,
};

/** Azure runs requests at the paths of its own API, and the model of a line is the name of a deployment. */
export const AZURE: FileDialect = {
  ...OPENAI,
  endpoint(path) {
    const own = path.replace(/^\/deployments\/[^/]+/, "");
    return own === "/responses" ? "/v1/responses" : own;
  },
};

export const MISTRAL: FileDialect = {
  batches: "/batch/jobs",
  endpoint: (path) => `/v1${path}`,
  body: (file, endpoint, { model }) => ({ input_files: [file], endpoint, model, timeout_hours: 24 }),
  line: (key) => `{"custom_id":"${key}","body":`,
  ends: { success: "done", failed: "failed", timeout_exceeded: "expired", cancelled: "cancelled" },
  files: ["output_file", "error_file"],
  form: {},
  list: (_after, page) => `?page=${page}&page_size=100`,
};

export class FileHost implements BatchHost {
  readonly limits = { lines: 50_000, bytes: 190_000_000 };
  readonly formats: readonly string[];
  readonly #dialect: FileDialect;

  constructor(dialect: FileDialect, formats: readonly string[]) {
    this.#dialect = dialect;
    this.formats = formats;
  }

  async create(lines: readonly HostLine[], mark: string, call: HostCall): Promise<{ id: string }> {
    const { batches, body } = this.#dialect;
    const endpoint = this.#dialect.endpoint(call.path.replace(/\?.*/, ""));
    const file = await this.#upload(lines, mark, endpoint, call).catch((thrown: unknown) => {
      throw HostRefusal.before(thrown);
    });
    const wanted = { ...body(file, endpoint, call), metadata: { weir_batch: mark } };
    const made = await jsonOf(await call.ask("POST", at(batches, call), jsonBody(wanted)));
    return { id: textOf(made["id"]) };
  }

  /** @returns the id of a file that a batch can have */
  async #upload(lines: readonly HostLine[], mark: string, endpoint: string, call: HostCall): Promise<string> {
    const { form, line } = this.#dialect;
    const pieces = lines.flatMap(({ key, body: bytes }) => [encoder.encode(line(key, endpoint)), bytes, END]);
    const upload = formOf({ purpose: "batch", ...form }, { name: `${mark}.jsonl`, pieces });
    let file = await jsonOf(await call.ask("POST", at("/files", call), upload));
    const id = textOf(file["id"]);
    for (let looks = 0; READING.has(textOf(file["status"])); looks++) {
      await call.pause(Math.min(LONGEST_MS, FIRST_MS * 2 ** looks));
      file = await jsonOf(await call.ask("GET", at(`/files/${encodeURIComponent(id)}`, call)));
    }
    if (file["status"] !== "error") return id;
    throw new HostRefusal(400, textOf(file["status_details"]) || "The provider could not read the lines.");
  }

  async find({ mark, since }: Sought, call: HostCall): Promise<Found> {
    const { batches, list } = this.#dialect;
    let after: string | undefined;
    for (let page = 0; page < PAGES; page++) {
      const listed = await jsonOf(await call.ask("GET", at(batches + list(after, page), call)));
      const found = objectsIn(listed["data"]);
      for (const { id, metadata } of found)
        if (isObject(metadata) && metadata["weir_batch"] === mark) return { id: textOf(id) };
      const last = found.at(-1);
      if (!last || listed["has_more"] === false || createdMs(last) < since) return undefined;
      after = textOf(last["id"]);
    }
    return undefined;
  }

  async look(id: string, call: HostCall): Promise<HostLook> {
    const batch = await this.#get(id, call);
    const state = this.#dialect.ends[textOf(batch["status"]).toLowerCase()] ?? "working";
    const [fault] = objectsIn(isObject(batch["errors"]) ? batch["errors"]["data"] : batch["errors"]);
    return { state, ...(fault && { why: textOf(fault["message"]) }) };
  }

  async *results(id: string, call: HostCall): AsyncGenerator<HostResult, void> {
    const batch = await this.#get(id, call);
    for (const name of this.#dialect.files) {
      const file = batch[name];
      if (typeof file !== "string" || file === "") continue;
      const path = `/files/${encodeURIComponent(file)}/content`;
      for await (const line of linesOf(await call.ask("GET", at(path, call)))) {
        const result = resultOf(line);
        if (result) yield result;
      }
    }
  }

  async cancel(id: string, call: HostCall): Promise<void> {
    const path = `${this.#dialect.batches}/${encodeURIComponent(id)}/cancel`;
    await (await call.ask("POST", at(path, call))).bytes();
  }

  async #get(id: string, call: HostCall): Promise<JsonObject> {
    const path = `${this.#dialect.batches}/${encodeURIComponent(id)}`;
    return jsonOf(await call.ask("GET", at(path, call)));
  }
}

/** A path of the API with the query that requests have, such as the version of Azure's. */
function at(path: string, call: HostCall): string {
  const query = /\?.*/.exec(call.path)?.[0] ?? "";
  return path.includes("?") ? path + query.replace("?", "&") : path + query;
}

/** Seconds, or a date as Azure writes it. @returns Infinity if the host says nothing that can be compared */
function createdMs({ created_at: created }: JsonObject): number {
  const ms = typeof created === "number" ? created * 1_000 : Date.parse(textOf(created));
  return Number.isNaN(ms) ? Infinity : ms + 60_000;
}

/** The body keeps its bytes. */
function resultOf(line: Uint8Array): HostResult | undefined {
  const json = parseJson(Buffer.from(line).toString());
  if (!isObject(json)) return undefined;
  const key = textOf(json["custom_id"]);
  const { response, error } = json;
  if (isObject(response)) {
    const status = Number(response["status_code"] ?? 200);
    return { key, status, body: bodyIn(line) ?? JSON.stringify(response["body"] ?? null) };
  }
  const code = isObject(error) ? textOf(error["code"]) : "";
  if (code === "batch_expired") return { key, without: "expired" };
  if (code === "batch_cancelled") return { key, without: "cancelled" };
  const message = (isObject(error) ? textOf(error["message"]) : textOf(error)) || "The line has no answer.";
  return { key, status: 500, body: JSON.stringify({ error: { message, type: "server_error", code } }) };
}

function bodyIn(line: Uint8Array): Uint8Array | undefined {
  const response = scanBody(line, Infinity).members.get("response");
  if (!response) return undefined;
  const bytes = line.subarray(response.start, response.end);
  const body = scanBody(bytes, Infinity).members.get("body");
  if (!body || bytes[body.start] !== 0x7b) return undefined;
  // The line is valid until the next one is read.
  return new Uint8Array(bytes.subarray(body.start, body.end));
}
