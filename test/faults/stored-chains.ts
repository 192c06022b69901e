/**
 * Chains of stored answers under kill -9: two keys continue many conversations in random order over two workers, while a
 * worker and the keeper are killed. `bun test/faults/stored-chains.ts [CHAINS]` prints what was seen, and exits with 1 when
 * a committed answer is lost, a key reaches an answer of the other, or an answer continues the wrong conversation.
 */
import type { JsonObject } from "../../src/core/json.ts";
import { chatChunk } from "../helpers/event-streams.ts";
import { seededRandom } from "../helpers/recordings.ts";
import { type Serving, serve, until } from "../helpers/serving.ts";
import { sse, startUpstream } from "../helpers/upstream.ts";

const TURNS = 3;
/** Calls at one time. */
const AT_ONCE = 16;
/** Share of steps after which the other key tries the chain. */
const INTRUDERS = 0.05;

const KEYS = ["wk-canary-one-0123456789abcdef", "wk-canary-two-0123456789abcdef"] as const;

export interface ChainsReport {
  chains: number;
  /** Answers that weir said it stored. */
  committed: number;
  /** Answers that weir said it did not store; the client repeated the turn. */
  notStored: number;
  /** Calls that broke or failed with a 5xx; the client repeated them. */
  broken: number;
  /** Times a key tried an answer of the other. */
  intrusions: number;
  killed: string[];
  /** Committed answers that were unknown later. */
  lost: number;
  /** Answers that a key reached although the other one owns them. */
  foreign: number;
  /** Requests that reached the provider with another conversation than that of their chain. */
  wrong: number;
  seconds: number;
}

interface Chain {
  number: number;
  key: (typeof KEYS)[number];
  /** Ids of its committed answers. */
  ids: string[];
}

/** Runs the chains to their ends. @param chains how many @param binary whether to run `dist/weir` instead of the sources */
export async function runChains(chains: number, binary = false): Promise<ChainsReport> {
  const report: ChainsReport = {
    ...{ chains, committed: 0, notStored: 0, broken: 0, intrusions: 0, killed: [] },
    ...{ lost: 0, foreign: 0, wrong: 0, seconds: 0 },
  };
  const upstream = startUpstream(({ body }) => {
    const { messages } = JSON.parse(body.toString("utf8")) as {
      messages: { role: string; content: string }[];
    };
    const said = messages.map(({ content }) => content);
    const asked = /^chain (\d+) turn (\d+)$/.exec(said.at(-1) ?? "");
    if (!asked || !isWhole(said, Number(asked[1]), Number(asked[2]))) report.wrong++;
    return sse([
      chatChunk({ role: "assistant", content: `answer to ${said.at(-1)}` }),
      ...[chatChunk({}, "stop"), "data: [DONE]\n\n"],
    ]);
  });
  const serving = await serve({
    config: JSON.stringify({
      providers: { host: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"] } },
      keys: KEYS.map((key, index) => ({ name: `key${index}`, key })),
      responses: { store: "on" },
    }),
    env: { WEIR_STATE: "state" },
    ...{ workers: 2, binary },
  });
  const began = performance.now();
  try {
    await new Run(serving, chains, report).toEnd();
  } finally {
    report.seconds = (performance.now() - began) / 1000;
    await serving.end();
    upstream.stop();
  }
  return report;
}

/** Whether these are all turns of the chain so far, each with its answer, and nothing else. */
function isWhole(said: readonly string[], chain: number, turn: number): boolean {
  const expected = Array.from({ length: turn }, (_, index) => `chain ${chain} turn ${index}`).flatMap(
    (text) => [text, `answer to ${text}`],
  );
  return said.length === expected.length + 1 && expected.every((text, index) => said[index] === text);
}

class Run {
  readonly #serving: Serving;
  readonly #report: ChainsReport;
  readonly #random = seededRandom(11);
  readonly #chains: Chain[];
  readonly #open: Chain[];
  readonly #steps: number;
  /** What is killed after which share of the steps. */
  readonly #kills: { at: number; what: string; pid(): number | undefined }[];

  constructor(serving: Serving, chains: number, report: ChainsReport) {
    this.#serving = serving;
    this.#report = report;
    this.#chains = Array.from({ length: chains }, (_, number) => ({
      number,
      key: KEYS[number % 2]!,
      ids: [],
    }));
    this.#open = [...this.#chains];
    this.#steps = chains * TURNS;
    this.#kills = [
      { at: 0.25, what: "worker", pid: () => this.#serving.workers()[0] },
      { at: 0.5, what: "keeper", pid: () => this.#serving.keeper() },
      { at: 0.75, what: "keeper", pid: () => this.#serving.keeper() },
    ];
  }

  async toEnd(): Promise<void> {
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#work()));
    // Each answer that weir said it stored can still be read by its owner.
    const stored = this.#chains.flatMap(({ ids, key }) => ids.map((id) => ({ id, key })));
    const look = async () => {
      for (let next = stored.pop(); next; next = stored.pop())
        if ((await this.#get(next.id, next.key)) !== 200) this.#report.lost++;
    };
    await Promise.all(Array.from({ length: AT_ONCE }, look));
  }

  async #work(): Promise<void> {
    for (;;) {
      const [chain] = this.#open.splice(Math.floor(this.#random() * this.#open.length), 1);
      if (!chain) return;
      await this.#step(chain);
      if (chain.ids.length < TURNS) this.#open.push(chain);
    }
  }

  async #step(chain: Chain): Promise<void> {
    const { status, body } = await this.#post(chain, chain.key);
    if (status === 400) {
      this.#report.lost++;
      chain.ids.length = TURNS;
    } else if (status !== 200) {
      this.#report.broken++;
      await Bun.sleep(50);
    } else if (body?.["store"] === true) {
      this.#report.committed++;
      chain.ids.push(String(body["id"]));
    } else this.#report.notStored++;
    if (chain.ids.length > 0 && this.#random() < INTRUDERS) await this.#intrude(chain);
    this.#kill();
  }

  async #intrude(chain: Chain): Promise<void> {
    this.#report.intrusions++;
    const other = KEYS.find((key) => key !== chain.key)!;
    if ((await this.#get(chain.ids.at(-1)!, other)) === 200) this.#report.foreign++;
    if ((await this.#post(chain, other)).status === 200) this.#report.foreign++;
  }

  #kill(): void {
    const [next] = this.#kills;
    if (!next || this.#report.committed < next.at * this.#steps) return;
    this.#kills.shift();
    const pid = next.pid();
    if (pid === undefined) return;
    process.kill(pid, "SIGKILL");
    this.#report.killed.push(next.what);
  }

  async #post(chain: Chain, key: string): Promise<{ status: number; body?: JsonObject }> {
    const turn = chain.ids.length;
    try {
      const response = await fetch(`${this.#serving.url}/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}`, connection: "close" },
        body: JSON.stringify({
          model: "host/m",
          input: `chain ${chain.number} turn ${turn}`,
          ...(turn > 0 && { previous_response_id: chain.ids[turn - 1]! }),
        }),
      });
      return { status: response.status, body: (await response.json()) as JsonObject };
    } catch {
      return { status: 0 };
    }
  }

  /** The status, once weir can say it: a keeper that starts again answers with a 5xx. */
  async #get(id: string, key: string): Promise<number> {
    let status = 0;
    await until(async () => {
      const headers = { authorization: `Bearer ${key}`, connection: "close" };
      const url = `${this.#serving.url}/v1/responses/${id}`;
      const response = await fetch(url, { headers }).catch(() => undefined);
      await response?.bytes().catch(() => undefined);
      status = response?.status ?? 0;
      return status !== 0 && status < 500;
    }, 10_000);
    return status;
  }
}

if (import.meta.main) {
  const chains = Number(process.argv[2] ?? 10_000);
  const report = await runChains(chains);
  console.log(JSON.stringify(report, null, 2));
  const isRight = report.lost + report.foreign + report.wrong === 0 && report.killed.length === 3;
  process.exit(isRight ? 0 : 1);
}
