/** OpenAI's batch API, and those that differ from it in little: a file of lines, a batch of it, a file of answers. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { scanBody } from "../../../stream/scan.ts";
import type {
  BatchHost,
  Found,
  HostCall,
  HostLine,
  HostLook,
  HostResult,
  HostState,
  Sought,
} from "./host.ts";
import { formOf, jsonBody, jsonOf, linesOf, objectsIn, textOf } from "./wire.ts";

/** How hosts of the family differ. */
export interface FileDialect {
  /** Path of batches behind the base URL. */
  readonly batches: string;
  /** The path of requests as lines and batches name it. */
  endpoint(path: string): string;
  /** Members of the body that creates a batch, beside the mark. */
  body(file: string, endpoint: string, call: HostCall): JsonObject;
  /** The envelope of a line up to its body; `}` follows. */
  line(key: string, endpoint: string): string;
  readonly states: Readonly<Record<string, HostState>>;
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

export const OPENAI: FileDialect = {
  batches: "/batches",
  endpoint: (path) => `/v1${path}`,
  body: (file, endpoint) => ({ input_file_id: file, endpoint, completion_window: "24h" }),
  line: (key, endpoint) => `{"custom_id":"${key}","method":"POST","url":"${endpoint}","body":`,
  states: {
    ...{ completed: "done", failed: "failed", expired: "expired", cancelled: "cancelled" },
    ...{ validating: "working", in_progress: "working", finalizing: "working", cancelling: "working" },
  },
  files: ["output_file_id", "error_file_id"],
  // Inputs and results are needed for as long as the batch runs.
  form: { "expires_after[anchor]": "created_at", "expires_after[seconds]": "2592000" },
  list: (after) => `?limit=100${after === undefined ? "" : `&after=${encodeURIComponent(after)}`}`,
};

/** Azure runs requests at the paths of its own API. */
export const AZURE: FileDialect = {
  ...OPENAI,
  endpoint: (path) => (path === "/responses" ? "/v1/responses" : path),
};

export const MISTRAL: FileDialect = {
  batches: "/batch/jobs",
  endpoint: (path) => `/v1${path}`,
  body: (file, endpoint, { model }) => ({ input_files: [file], endpoint, model, timeout_hours: 24 }),
  line: (key) => `{"custom_id":"${key}","body":`,
  states: {
    ...{ SUCCESS: "done", FAILED: "failed", TIMEOUT_EXCEEDED: "expired", CANCELLED: "cancelled" },
    ...{ QUEUED: "working", RUNNING: "working", CANCELLATION_REQUESTED: "working" },
  },
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
    const { batches, form, body, line } = this.#dialect;
    const endpoint = this.#dialect.endpoint(call.path);
    const pieces = lines.flatMap(({ key, body: bytes }) => [encoder.encode(line(key, endpoint)), bytes, END]);
    const upload = formOf({ purpose: "batch", ...form }, { name: `${mark}.jsonl`, pieces });
    const file = textOf((await jsonOf(await call.ask("POST", "/files", upload)))["id"]);
    const wanted = { ...body(file, endpoint, call), metadata: { weir_batch: mark } };
    return { id: textOf((await jsonOf(await call.ask("POST", batches, jsonBody(wanted))))["id"]) };
  }

  async find({ mark, since }: Sought, call: HostCall): Promise<Found> {
    const { batches, list } = this.#dialect;
    let after: string | undefined;
    for (let page = 0; page < PAGES; page++) {
      const listed = await jsonOf(await call.ask("GET", batches + list(after, page)));
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
    const state = this.#dialect.states[textOf(batch["status"])] ?? "working";
    const [fault] = objectsIn(isObject(batch["errors"]) ? batch["errors"]["data"] : batch["errors"]);
    return { state, ...(fault && { why: textOf(fault["message"]) }) };
  }

  async *results(id: string, call: HostCall): AsyncGenerator<HostResult, void> {
    const batch = await this.#get(id, call);
    for (const name of this.#dialect.files) {
      const file = batch[name];
      if (typeof file !== "string" || file === "") continue;
      const path = `/files/${encodeURIComponent(file)}/content`;
      for await (const line of linesOf(await call.ask("GET", path))) {
        const result = resultOf(line);
        if (result) yield result;
      }
    }
  }

  async cancel(id: string, call: HostCall): Promise<void> {
    const response = await call.ask("POST", `${this.#dialect.batches}/${encodeURIComponent(id)}/cancel`);
    await response.bytes();
  }

  async #get(id: string, call: HostCall): Promise<JsonObject> {
    return jsonOf(await call.ask("GET", `${this.#dialect.batches}/${encodeURIComponent(id)}`));
  }
}

/** OpenAI's count of seconds. @returns Infinity if the host says nothing that can be compared */
function createdMs({ created_at: at }: JsonObject): number {
  return typeof at === "number" ? at * 1_000 + 60_000 : Infinity;
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
