/** The batch APIs of Anthropic and Google on loopback, whose requests and answers are in bodies. */
import { type Answer, json, startUpstream, type UpstreamRequest } from "../../../../test/helpers/upstream.ts";

interface Line {
  readonly key: string;
  readonly said: string;
}

interface FakeBatch {
  readonly id: string;
  readonly mark: string;
  readonly lines: readonly Line[];
  readonly createdAt: number;
  looks: number;
  isCancelled: boolean;
}

interface AnthropicBody {
  readonly requests: readonly {
    readonly custom_id: string;
    readonly params: {
      readonly stream?: boolean;
      readonly messages: readonly { readonly content: unknown }[];
    };
  }[];
}

interface GoogleBody {
  readonly batch: {
    readonly displayName: string;
    readonly inputConfig: {
      readonly requests: {
        readonly requests: readonly {
          readonly request: {
            readonly contents: readonly { readonly parts: readonly { readonly text: string }[] }[];
          };
          readonly metadata: { readonly key: string };
        }[];
      };
    };
  };
}

export class FakeInline {
  readonly batches: FakeBatch[] = [];
  readonly billed = new Map<string, number>();
  /** Ordinary calls. */
  called = 0;
  /** Looks at a batch before it ends. */
  looks = 1;
  /** Creations whose answer is lost; the batch exists. */
  loses = 0;
  /** Batches answer half of their lines, and let the others expire. */
  expires = false;
  /** Members of the usage of an answer. @param said text of the line */
  usage: (said: string) => object = () => ({});
  #made = 0;
  readonly #upstream = startUpstream((request) => this.#answer(request));

  get url(): string {
    return this.#upstream.url;
  }

  stop(): void {
    this.#upstream.stop();
  }

  #answer({ method, path, body }: UpstreamRequest): Answer {
    const id = /b_[0-9]+/.exec(path)?.[0];
    const batch = this.batches.find((one) => one.id === id);
    const text = body.toString();
    const route = `${method} ${path
      .replace(/\?.*/, "")
      .replace(/b_[0-9]+/, "ID")
      .replace(/models\/[^:]+/, "models/MODEL")}`;
    if (id !== undefined && !batch) return json({ error: { type: "not_found_error", message: "none" } }, 404);
    switch (route) {
      case "POST /v1/messages/batches":
        return this.#create(ofAnthropic(JSON.parse(text) as AnthropicBody), "", anthropic);
      case "GET /v1/messages/batches":
        return json({
          data: this.batches.toReversed().map((one) => anthropic(this.#looked(one))),
          has_more: false,
        });
      case "GET /v1/messages/batches/ID":
        return json(anthropic(this.#looked(batch!)));
      case "GET /v1/messages/batches/ID/results":
        return {
          body: this.#results(batch!)
            .map((line) => `${JSON.stringify(line)}\n`)
            .join(""),
        };
      case "POST /v1/messages/batches/ID/cancel":
        batch!.isCancelled = true;
        return json(anthropic(batch!));
      case "POST /v1beta/models/MODEL:batchGenerateContent":
        return this.#create(ofGoogle(JSON.parse(text) as GoogleBody), text.slice(10, 80), google);
      case "GET /v1beta/batches":
        return json({ operations: this.batches.toReversed().map((one) => google(one)) });
      case "GET /v1beta/batches/ID":
        return json(this.#googleWhole(this.#looked(batch!)));
      case "POST /v1beta/batches/ID:cancel":
        batch!.isCancelled = true;
        return json({});
    }
    this.called++;
    return json({ error: { type: "not_found_error", message: route } }, 404);
  }

  #create(lines: readonly Line[], head: string, shape: (batch: FakeBatch) => object): Answer {
    const mark = /"displayName":"([^"]+)"/.exec(head)?.[1] ?? "";
    const id = `b_${++this.#made}`;
    const batch = { id, mark, lines, looks: 0, isCancelled: false, createdAt: Date.now() };
    this.batches.push(batch);
    for (const { said } of lines.slice(0, this.#answeredOf(batch)))
      if (!said.startsWith("bad")) this.billed.set(said, (this.billed.get(said) ?? 0) + 1);
    if (this.loses > 0) {
      this.loses--;
      return { body: ["{"], framing: "chunked", ending: "rst" };
    }
    return json(shape(batch));
  }

  #looked(batch: FakeBatch): FakeBatch {
    batch.looks++;
    return Object.assign(batch, { isEnded: batch.isCancelled || batch.looks > this.looks });
  }

  #answeredOf({ lines }: Pick<FakeBatch, "lines">): number {
    return this.expires ? Math.floor(lines.length / 2) : lines.length;
  }

  #results(batch: FakeBatch): object[] {
    return batch.lines
      .map(({ key, said }, at) => {
        const type = at < this.#answeredOf(batch) ? "succeeded" : "expired";
        if (type === "expired") return { custom_id: key, result: { type } };
        const error = { type: "error", error: { type: "invalid_request_error", message: "no" } };
        if (said.startsWith("bad")) return { custom_id: key, result: { type: "errored", error } };
        return { custom_id: key, result: { type, message: message(said, this.usage(said)) } };
      })
      .toReversed();
  }

  #googleWhole(batch: FakeBatch): object {
    const inlinedResponses = batch.lines.map(({ key, said }, at) => {
      const metadata = { key };
      if (at >= this.#answeredOf(batch)) return { error: { code: 4, message: "late" }, metadata };
      if (said.startsWith("bad")) return { error: { code: 3, message: "no" }, metadata };
      return { response: generated(said, this.usage(said)), metadata };
    });
    const shape = google(batch);
    if (!isEnded(batch)) return shape;
    return { ...shape, done: true, response: { inlinedResponses: { inlinedResponses } } };
  }
}

function isEnded(batch: FakeBatch): boolean {
  return (batch as FakeBatch & { isEnded?: boolean }).isEnded ?? false;
}

function anthropic(batch: FakeBatch): object {
  const { id, lines, createdAt } = batch;
  return {
    ...{ id, type: "message_batch", created_at: new Date(createdAt).toISOString() },
    processing_status: isEnded(batch) ? "ended" : "in_progress",
    request_counts: { processing: lines.length, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
  };
}

function google(batch: FakeBatch): object {
  const state = isEnded(batch) ? "BATCH_STATE_SUCCEEDED" : "BATCH_STATE_RUNNING";
  return { name: `batches/${batch.id}`, metadata: { displayName: batch.mark, state } };
}

function ofAnthropic({ requests }: AnthropicBody): Line[] {
  return requests.map(({ custom_id: key, params }) => {
    if (params.stream !== undefined) throw new Error("a request of a batch has no `stream`");
    const { content } = params.messages.at(-1)!;
    const said = typeof content === "string" ? content : (content as { text: string }[])[0]!.text;
    return { key, said };
  });
}

function ofGoogle({ batch }: GoogleBody): Line[] {
  return batch.inputConfig.requests.requests.map(({ request, metadata: { key } }) => ({
    ...{ key, said: request.contents.at(-1)!.parts[0]!.text },
  }));
}

function message(said: string, usage: object): object {
  return {
    ...{ id: "msg_1", type: "message", role: "assistant", model: "c", stop_reason: "end_turn" },
    ...{ stop_sequence: null, content: [{ type: "text", text: `You said ${said}.` }] },
    usage: { input_tokens: 30, output_tokens: 50, ...usage },
  };
}

function generated(said: string, usage: object): object {
  return {
    candidates: [
      { content: { role: "model", parts: [{ text: `You said ${said}.` }] }, finishReason: "STOP", index: 0 },
    ],
    usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 50, totalTokenCount: 80, ...usage },
  };
}
