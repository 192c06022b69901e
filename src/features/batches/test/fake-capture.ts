/** A host of four formats with their batch APIs, on loopback. It keeps each request, and answers as a recording did. */
import { type Answer, json, startUpstream, type UpstreamRequest } from "../../../../test/helpers/upstream.ts";

/** The format in which a host is asked. */
export type Spoken = "chat" | "messages" | "responses" | "gemini";

/** A line, or a request of an ordinary call. */
export interface Captured {
  /** The number of the line, or of the call. */
  readonly number: number;
  /** The exact text of its body. */
  readonly body: string;
}

interface KeptBatch {
  readonly api: "openai" | "anthropic" | "gemini";
  readonly lines: readonly Captured[];
  readonly keys: readonly string[];
}

export class FakeCapture {
  readonly lines: Captured[] = [];
  readonly calls: Captured[] = [];
  /** The number of the next ordinary call. */
  next = 0;
  /** The text of the answer to a line or a call. @param number from 0 */
  readonly #answerTo: (number: number) => string;
  readonly #files: string[] = [];
  readonly #batches: KeptBatch[] = [];
  readonly #upstream = startUpstream((request) => this.#answer(request));

  constructor(answerTo: (number: number) => string) {
    this.#answerTo = answerTo;
  }

  get url(): string {
    return this.#upstream.url;
  }

  stop(): void {
    this.#upstream.stop();
  }

  #answer({ method, path, body }: UpstreamRequest): Answer {
    const at = Number(/(?:file|batch)-([0-9]+)/.exec(path)?.[1]);
    const text = body.toString();
    if (method === "POST" && path === "/v1/files")
      return json({
        id: `file-${this.#files.push(/jsonl\r\n\r\n([^]*)\r\n--/.exec(text)![1]!) - 1}`,
        object: "file",
      });
    if (method === "GET" && path.startsWith("/v1/files/")) return { body: this.#files[at]! };
    if (method === "POST" && path === "/v1/batches") {
      const { input_file_id } = JSON.parse(text) as { input_file_id: string };
      const file = this.#files[Number(input_file_id.slice(5))]!;
      return this.#create("openai", file.split("\n").filter(Boolean), "custom_id", "body");
    }
    if (method === "POST" && path.endsWith("/messages/batches"))
      return this.#create("anthropic", itemsIn(text, "requests"), "custom_id", "params");
    if (method === "POST" && path.endsWith(":batchGenerateContent"))
      return this.#create("gemini", itemsIn(text, "requests"), "key", "request");
    if (method === "GET" && path.endsWith("/results"))
      return { body: this.#resultsOf(at).map(lineOf).join("") };
    if (method === "GET" && /batch-[0-9]+$/.test(path)) return this.#look(at);
    this.calls.push({ number: this.next, body: text });
    return { headers: { "content-type": "application/json" }, body: this.#answerTo(this.next) };
  }

  #create(api: KeptBatch["api"], lines: readonly string[], key: string, body: string): Answer {
    const keys = lines.map((line) => new RegExp(`"${key}":"([^"]+)"`).exec(line)![1]!);
    const captured = lines.map((line, at) => ({
      number: Number(/^w([0-9]+)/.exec(keys[at]!)![1]) - 1,
      body: memberIn(line, body),
    }));
    this.lines.push(...captured);
    const id = `batch-${this.#batches.push({ api, lines: captured, keys }) - 1}`;
    return json(api === "gemini" ? { name: `batches/${id}`, metadata: {} } : { id });
  }

  #resultsOf(at: number): object[] {
    const { api, lines, keys } = this.#batches[at]!;
    return lines.map(({ number }, line) => {
      const answer = JSON.parse(this.#answerTo(number)) as unknown;
      const key = keys[line]!;
      if (api === "anthropic") return { custom_id: key, result: { type: "succeeded", message: answer } };
      if (api === "gemini") return { response: answer, metadata: { key } };
      return { custom_id: key, response: { status_code: 200, body: answer }, error: null };
    });
  }

  #look(at: number): Answer {
    const { api } = this.#batches[at]!;
    if (api === "anthropic") return json({ id: `batch-${at}`, processing_status: "ended" });
    const results = this.#resultsOf(at);
    if (api === "openai") {
      const output_file_id = `file-${this.#files.push(results.map(lineOf).join("")) - 1}`;
      return json({ id: `batch-${at}`, status: "completed", output_file_id });
    }
    return json({
      ...{ name: `batches/batch-${at}`, done: true, metadata: { state: "BATCH_STATE_SUCCEEDED" } },
      response: { inlinedResponses: { inlinedResponses: results } },
    });
  }
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** The texts of the objects in the innermost list of that name. */
function itemsIn(text: string, name: string): string[] {
  const from = text.lastIndexOf(`"${name}":[`, text.indexOf(":[{") + 1) + name.length + 4;
  const items: string[] = [];
  for (let at = from; text[at] === "{" || text[at] === ",";) {
    if (text[at] === ",") at++;
    const end = endOf(text, at);
    items.push(text.slice(at, end));
    at = end;
  }
  return items;
}

/** The text of an object's member whose value is an object. It is the first of that name. */
function memberIn(text: string, name: string): string {
  const from = text.indexOf(`"${name}":{`) + name.length + 3;
  return text.slice(from, endOf(text, from));
}

/** Behind the object that begins at `from`. */
function endOf(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const one = text[at]!;
    if (one === '"') at = closing(text, at);
    else if (one === "{" || one === "[") depth++;
    else if ((one === "}" || one === "]") && --depth === 0) return at + 1;
  }
  throw new Error("an object without an end");
}

/** The closing quote of the string that opens at `from`. */
function closing(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++)
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  throw new Error("a string without an end");
}
