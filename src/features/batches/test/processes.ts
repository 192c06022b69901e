/** A gateway of several processes that runs batches, for tests that end them. */
import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { serve, type Serving } from "../../../../test/helpers/serving.ts";
import { SourceCopy } from "../../../../test/helpers/source-copy.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { budgetOf } from "../../../../test/keeper/books/simulation.ts";
import { sqliteStore } from "../../../keeper/store/sqlite-store.ts";
import { DOLLAR } from "../../../ledger/money.ts";
import { FolderFiles } from "./folder-files.ts";

/** Nano-dollars of a line. */
export const LINE_COST = DOLLAR / 1_000;

/** A provider that counts its answers by the text of the line. */
export class Provider {
  /** Calls that it answered with success. */
  readonly paid = new Map<string, number>();
  readonly asked = new Map<string, number>();
  readonly #upstream: Upstream;
  /** Milliseconds of the fastest and of the slowest answer. */
  delay: readonly [number, number] = [20, 120];

  constructor() {
    this.#upstream = startUpstream(async ({ body }) => {
      const { messages } = JSON.parse(body.toString()) as { messages: { content: string }[] };
      const said = messages.at(-1)!.content;
      this.asked.set(said, (this.asked.get(said) ?? 0) + 1);
      const [least, most] = this.delay;
      await Bun.sleep(least + Math.random() * (most - least));
      if (said.startsWith("busy") && this.asked.get(said) === 1)
        return json({ error: { message: "busy", type: "server_error" } }, 503);
      this.paid.set(said, (this.paid.get(said) ?? 0) + 1);
      return json({
        ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
        choices: [{ index: 0, message: { role: "assistant", content: said }, finish_reason: "stop" }],
        usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
      });
    });
  }

  get open(): number {
    return this.#upstream.open;
  }

  config(more: object = {}): Record<string, unknown> {
    return {
      providers: {
        p: { speaks: "chat-completions", baseUrl: `${this.#upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
      },
      prices: { "p/m": { input: 0, output: 0, request: LINE_COST / DOLLAR } },
      ...{ retries: { attempts: 1 }, log: { format: "json" }, batches: { concurrency: 8, yield: false } },
      ...more,
    };
  }

  stop(): void {
    this.#upstream.stop();
  }
}

/** Folders and the source that stay while gateways come and go. */
export class House {
  readonly provider = new Provider();
  readonly #copy = new SourceCopy();
  readonly #root = mkdtempSync(join(tmpdir(), "weir-batches-house-"));
  readonly files = new FolderFiles(join(this.#root, "files"));
  readonly state = join(this.#root, "state");
  readonly #gateways: Serving[] = [];

  constructor() {
    this.#copy.add("folderFiles", "src/features/batches/test/folder-files.ts");
  }

  /** A hard budget for all calls, so that each of them is held. */
  async limit(limit: number): Promise<void> {
    mkdirSync(this.state, { mode: 0o700 });
    const store = sqliteStore(join(this.state, "weir.db"));
    await store.open();
    await store.saveBudget(budgetOf({ source: "store", limit }), { actor: "cli" });
    await store.close();
  }

  /** @param more of the config @param node name of its state folder */
  async start(workers = 2, more: object = {}, node = "state"): Promise<Serving> {
    const gateway = await serve({
      ...{ root: this.#copy.root, workers, binary: false },
      config: JSON.stringify(this.provider.config(more)),
      env: { WEIR_STATE: join(this.#root, node), BATCHES_FILES: join(this.#root, "files") },
    });
    this.#gateways.push(gateway);
    return gateway;
  }

  /** A batch with these texts as lines. @returns its id */
  async batch(gateway: Serving, texts: readonly string[]): Promise<string> {
    const { id } = await this.files.input(
      texts.map((content, at) => ({
        ...{ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions" },
        body: { model: "p/m", messages: [{ role: "user", content }] },
      })),
    );
    const made = await clientOf(gateway).batches.create({
      ...{ input_file_id: `file-${id}`, endpoint: "/v1/chat/completions", completion_window: "24h" },
    });
    return made.id;
  }

  /** Results by the number of the line in the texts, from 0. @throws Error if a line has two */
  results({ output_file_id, error_file_id }: OpenAI.Batch): Map<number, string> {
    const found = new Map<number, string>();
    const all = [output_file_id, error_file_id].flatMap((id) => this.files.lines(id ?? undefined));
    for (const { custom_id, response, error } of all) {
      const at = Number(custom_id.slice(1));
      if (found.has(at)) throw new Error(`The line ${at} has two results.`);
      found.set(at, error?.code ?? String(response?.status_code));
    }
    return found;
  }

  /** What the store has of batches, of which no gateway runs. */
  books(): { costs: Map<string, number>; granted: number; drawn: number; unexplained: number } {
    const db = new Database(join(this.state, "weir.db"), { readonly: true });
    const costs = new Map<string, number>();
    for (const { batch, cost } of db
      .query<{ batch: string; cost: number }, []>(
        "SELECT json_extract(detail, '$.batch') AS batch, SUM(cost) AS cost FROM calls GROUP BY 1",
      )
      .all())
      costs.set(`batch_${batch}`, cost);
    const one = (sql: string) => Number(Object.values(db.query<object, []>(sql).get()!)[0]);
    const granted = one("SELECT SUM(granted) FROM accounts");
    const drawn = one("SELECT COUNT(*) FROM grants WHERE amount <> 0");
    // What is assumed, and no record of a call explains.
    const unexplained = one("SELECT coalesce(SUM(amount), 0) FROM assumptions");
    db.close();
    return { costs, granted, drawn, unexplained };
  }

  async end(): Promise<void> {
    for (const gateway of this.#gateways) await gateway.end();
    this.provider.stop();
    this.#copy.remove();
    rmSync(this.#root, { recursive: true, force: true });
  }
}

export function clientOf({ url }: Pick<Serving, "url">): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0, timeout: 20_000 });
}

const ENDS = ["completed", "failed", "cancelled", "expired"];

/** The batch when it has ended. A gateway that is killed answers later. */
export async function endOf(
  gateway: Pick<Serving, "url" | "log">,
  id: string,
  ms = 300_000,
): Promise<OpenAI.Batch> {
  const client = clientOf(gateway);
  for (const until = Date.now() + ms; ;) {
    const batch = await client.batches.retrieve(id).catch(() => undefined);
    if (batch && ENDS.includes(batch.status)) return batch;
    if (Date.now() > until)
      throw new Error(`${id} does not end: ${JSON.stringify(batch)}\n${gateway.log.slice(-20).join("\n")}`);
    await Bun.sleep(200);
  }
}
