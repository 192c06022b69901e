/** Makes batches and reads them by OpenAI's SDK, with the files of weir: also of a gateway in a process of its own. */
import OpenAI, { toFile } from "openai";

/** A batch as weir shows it. */
export type Seen = OpenAI.Batch & { readonly weir: { readonly how: string; readonly cost: string } };

interface ResultLine {
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly body: OpenAI.ChatCompletion } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

const ENDS: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "expired"]);

/** A line of a batch of chats. */
export function chatLine(id: string, model: string, content: string, more: object = {}): object {
  return {
    ...{ custom_id: id, method: "POST", url: "/v1/chat/completions" },
    body: { model, max_tokens: 99, messages: [{ role: "user", content }], ...more },
  };
}

export class BatchClient {
  readonly openai: OpenAI;

  /** @param url of the gateway */
  constructor(url: string, apiKey = "none") {
    this.openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
  }

  /** @returns the id of a batch of these lines */
  async made(lines: readonly object[], endpoint = "/v1/chat/completions"): Promise<string> {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const file = await toFile(Buffer.from(text), "in.jsonl");
    const { id } = await this.openai.files.create({ file, purpose: "batch" });
    const batch = await this.openai.batches.create({
      ...{ input_file_id: id, completion_window: "24h" },
      endpoint: endpoint as "/v1/chat/completions",
    });
    return batch.id;
  }

  /** A batch of chats with one model; its lines are `l0`, `l1` and so on. @returns its id */
  async madeOf(model: string, texts: readonly string[]): Promise<string> {
    return this.made(texts.map((text, at) => chatLine(`l${at}`, model, text)));
  }

  async ended(id: string): Promise<Seen> {
    for (;;) {
      const batch = (await this.openai.batches.retrieve(id)) as Seen;
      if (ENDS.has(batch.status)) return batch;
      await Bun.sleep(50);
    }
  }

  /** The lines of both files. @throws Error for a line with two results */
  async lines({ output_file_id, error_file_id }: OpenAI.Batch): Promise<ResultLine[]> {
    const all: ResultLine[] = [];
    for (const id of [output_file_id, error_file_id]) {
      const text = id ? await (await this.openai.files.content(id)).text() : "";
      for (const line of text.split("\n").filter(Boolean)) all.push(JSON.parse(line) as ResultLine);
    }
    const ids = new Set(all.map(({ custom_id }) => custom_id));
    if (ids.size < all.length) throw new Error("A line has two results.");
    return all;
  }

  /** By `custom_id`: the text, the status of an error, or the code of a line without an answer. */
  async results(batch: OpenAI.Batch): Promise<Record<string, unknown>> {
    const found = (await this.lines(batch)).map(({ custom_id, response, error }) => {
      const text = response?.body.choices?.[0]?.message.content;
      return [custom_id, text ?? response?.status_code ?? error?.code];
    });
    return Object.fromEntries(found) as Record<string, unknown>;
  }
}
