/** OpenAI's files and batches on loopback: it runs each line once, bills it, and can delay, fail, lose answers, expire. */
import { type Answer, json, startUpstream, type UpstreamRequest } from "../../../../test/helpers/upstream.ts";

interface Line {
  readonly custom_id: string;
  readonly url: string;
  readonly body: { model: string; messages?: { content: unknown }[]; input?: unknown };
}

interface FakeBatch {
  readonly id: string;
  readonly metadata: Record<string, string>;
  readonly endpoint: string;
  readonly input: string;
  status: string;
  looks: number;
  output?: string;
  errors?: string;
  why?: string;
}

export class FakeOpenAI {
  readonly files = new Map<string, string>();
  readonly batches: FakeBatch[] = [];
  /** Times that the provider has answered each text, and so charges. */
  readonly billed = new Map<string, number>();
  /** Ordinary calls by their texts. */
  readonly called: string[] = [];
  /** Looks at a batch before it ends. */
  looks = 1;
  /** What the answer to the next creations is: lost by a reset, or by a 500 of a proxy; the batch exists. */
  loses: ("rst" | "502")[] = [];
  /** How batches end. */
  ends: "completed" | "failed" | "expired" = "completed";
  /** Refuses each creation with this status. */
  refuses: number | undefined;
  /** What a line gets instead of its first answers: a status for each. @param said text of the line */
  busy: (said: string) => readonly number[] = () => [];
  /** Times that lines ran, by their texts. */
  readonly ran = new Map<string, number>();
  /** Members of `usage` of an answer. @param said text of the line */
  usage: (said: string) => object = () => ({});
  /** Statuses of the next lists of batches instead of these. */
  hides: number[] = [];
  /** Refuses each file with this status. */
  refusesFiles: number | undefined;
  readonly #upstream = startUpstream((request) => this.#answer(request));
  #made = 0;

  get url(): string {
    return `${this.#upstream.url}/v1`;
  }

  stop(): void {
    this.#upstream.stop();
  }

  #answer({ method, path, body }: UpstreamRequest): Answer {
    const route = `${method} ${path.replace(/\?.*/, "").replace(/(file|batch)_[0-9]+/, "ID")}`;
    const id = /(?:file|batch)_[0-9]+/.exec(path)?.[0] ?? "";
    switch (route) {
      case "POST /v1/files":
        return this.#upload(body.toString());
      case "GET /v1/files/ID/content":
        return { headers: { "content-type": "application/jsonl" }, body: this.files.get(id) ?? "" };
      case "POST /v1/batches":
        return this.#create(JSON.parse(body.toString()) as Record<string, unknown>);
      case "GET /v1/batches":
        if (this.hides.length > 0) return json({ error: { message: "no list" } }, this.hides.shift());
        return json({ object: "list", data: this.batches.toReversed(), has_more: false });
      case "GET /v1/batches/ID":
        return this.#look(id);
      case "POST /v1/batches/ID/cancel":
        return this.#cancel(id);
      case "POST /v1/chat/completions":
        return this.#call(JSON.parse(body.toString()) as Line["body"]);
    }
    return json({ error: { message: `no ${route}`, type: "invalid_request_error" } }, 404);
  }

  #upload(form: string): Answer {
    if (this.refusesFiles !== undefined) return json({ error: { message: "no files" } }, this.refusesFiles);
    if (!/name="purpose"\r\n\r\nbatch\r\n/.test(form)) return json({ error: { message: "purpose" } }, 400);
    const content = /filename="[^"]+"\r\n[^\r]*\r\n\r\n([^]*?)\r\n--/.exec(form)?.[1] ?? "";
    const id = `file_${++this.#made}`;
    this.files.set(id, content);
    return json({ id, object: "file" });
  }

  #create({ input_file_id, endpoint, metadata, completion_window }: Record<string, unknown>): Answer {
    if (this.refuses !== undefined) return json({ error: { message: "not here" } }, this.refuses);
    if (completion_window !== "24h") return json({ error: { message: "window" } }, 400);
    const batch: FakeBatch = {
      ...{ id: `batch_${++this.#made}`, object: "batch", endpoint: String(endpoint), looks: 0 },
      ...{
        metadata: metadata as Record<string, string>,
        input: String(input_file_id),
        status: "in_progress",
      },
    };
    this.batches.push(batch);
    const lost = this.loses.shift();
    if (lost === "rst") return { body: ["{"], framing: "chunked", ending: "rst" };
    if (lost === "502") return json({ error: { message: "bad gateway" } }, 502);
    return json(batch);
  }

  #look(id: string): Answer {
    const batch = this.batches.find((one) => one.id === id);
    if (!batch) return json({ error: { message: "none" } }, 404);
    if (batch.status === "in_progress" && ++batch.looks > this.looks) this.#end(batch, this.ends);
    return json({
      ...{ ...batch, output_file_id: batch.output ?? null, error_file_id: batch.errors ?? null },
      errors: batch.why ? { object: "list", data: [{ message: batch.why }] } : null,
    });
  }

  #cancel(id: string): Answer {
    const batch = this.batches.find((one) => one.id === id)!;
    if (batch.status === "in_progress") this.#end(batch, "cancelled");
    return json(batch);
  }

  /** A batch that does not complete has answered half of its lines. */
  #end(batch: FakeBatch, status: string): void {
    batch.status = status;
    if (status === "failed") {
      batch.why = "the model is not for batches";
      return;
    }
    const lines = linesIn(this.files.get(batch.input)!);
    const answered = status === "completed" ? lines.length : Math.floor(lines.length / 2);
    const out: unknown[] = [];
    const err: unknown[] = [];
    for (const [at, { custom_id, body, url }] of lines.entries()) {
      if (at >= answered) {
        const code = status === "expired" ? "batch_expired" : "batch_cancelled";
        err.push({ id: "r", custom_id, response: null, error: { code, message: code } });
        continue;
      }
      const answer = this.#run(body, url);
      const response = { status_code: answer.status, request_id: "q", body: answer.body };
      (answer.status === 200 ? out : err).push({ id: "r", custom_id, response, error: null });
    }
    // The vendor keeps no order.
    batch.output = this.#keep(out.toReversed());
    batch.errors = this.#keep(err);
  }

  #keep(lines: readonly unknown[]): string | undefined {
    if (lines.length === 0) return undefined;
    const id = `file_${++this.#made}`;
    this.files.set(id, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return id;
  }

  #run(body: Line["body"], url: string): { status: number; body: object } {
    if (url !== "/v1/chat/completions") return { status: 404, body: { error: { message: url } } };
    if ("stream" in body) return { status: 400, body: { error: { message: "stream" } } };
    const said = saidIn(body);
    if (said.startsWith("bad"))
      return { status: 400, body: { error: { message: "no", type: "invalid_request_error" } } };
    const ran = this.ran.get(said) ?? 0;
    this.ran.set(said, ran + 1);
    const status = this.busy(said)[ran];
    if (status !== undefined) return { status, body: { error: { message: "busy", type: "server_error" } } };
    this.billed.set(said, (this.billed.get(said) ?? 0) + 1);
    return { status: 200, body: completion(said, this.usage(said)) };
  }

  #call(body: Line["body"]): Answer {
    const said = saidIn(body);
    this.called.push(said);
    return json(completion(said));
  }
}

function linesIn(text: string): Line[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

/** The text of the last message. */
export function saidIn({ messages = [] }: Line["body"]): string {
  const { content } = messages.at(-1) ?? { content: "" };
  if (typeof content === "string") return content;
  return (content as { text: string }[]).map(({ text }) => text).join("");
}

export function completion(said: string, usage: object = {}): object {
  return {
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [
      { index: 0, message: { role: "assistant", content: `You said ${said}.` }, finish_reason: "stop" },
    ],
    usage: { prompt_tokens: 30, completion_tokens: 50, total_tokens: 80, ...usage },
  };
}
