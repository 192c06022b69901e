/** Each call of a tool is a call in the books. */
import { GatewayError } from "../../../core/error.ts";
import type { Principal } from "../../../core/principal.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import type { RunningWork, Work } from "../../../gateway/work.ts";
import type { Outcome } from "../asks.ts";
import { priceOf } from "../operator/tokens.ts";
import type { ToolsConfig } from "../section.ts";
import { toolCall, type ToolFacts } from "../columns.ts";
import { toolCalls } from "../metrics.ts";
import type { Samplers } from "../sampling/serve.ts";
import { CODE } from "../wire/messages.ts";
import { type AskTools, valueOf } from "./process.ts";
import type { AnswerOptions } from "./answer.ts";
import type { Beside, Book, Visitor } from "./endpoint.ts";

/** Name of the provider in budgets, prices and reports. */
const BY = "mcp";
/** Time in which a call that the process has stopped comes to its end. Milliseconds. */
const MARGIN_MS = 10_000;
/** Of a server that the config has no more. Milliseconds. */
const TIMEOUT_MS = 60_000;
/** Length of `__` between the names of a server and its tool. */
const SEPARATOR = 2;
const ROUTE = { method: "POST", path: "/mcp", operation: "execute_tool" } as const;
/** Names that are remembered for each config. */
const MOST_NAMES = 10_000;

/** A tool by its whole name. */
interface Tool {
  readonly name: string;
  readonly server: string;
}

/** A call on its way to the process. */
interface Booking {
  readonly tool: Tool;
  readonly bytes: number;
  readonly run: Parameters<Book>[1];
  resolve(answer: Response): void;
  reject(thrown: unknown): void;
}

export class Books {
  readonly #host: WorkerHost;
  readonly #ask: AskTools;
  readonly #options: ToolsConfig;
  readonly #samplers: Samplers;
  readonly #tools = new Map<string, Tool>();

  constructor(host: WorkerHost, ask: AskTools, options: ToolsConfig, samplers: Samplers) {
    this.#host = host;
    this.#ask = ask;
    this.#options = options;
    this.#samplers = samplers;
  }

  /** A name that means no tool of the caller is in no books: the process answers that it is unknown. */
  readonly book: Book = async ({ visitor, name, server, bytes, headers, screen }, run) => {
    const tool = await this.#toolOf(visitor, name, server);
    if (!tool) return run(new AbortController().signal, () => {});
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.#host
      .work({
        ...{ ...workOf(this.#options, tool, visitor.principal), headers },
        run: (running) => {
          screen?.noteFor(running.record);
          const sample = this.#samplers.of(running, visitor.principal);
          const trace = running.trace();
          return this.#run(running, { tool, bytes, run, resolve, reject }, { sample, trace });
        },
      })
      .catch(reject);
    return promise;
  };

  #run(running: RunningWork, { tool, bytes, run, resolve, reject }: Booking, beside: Beside): Promise<void> {
    return new Promise((done, fail) => {
      const ended: AnswerOptions["ended"] = (outcome, bytesOut, cause) => {
        const failure = cause instanceof GatewayError ? cause : failureOf(outcome);
        // What waits for the client is charged when its answer has come.
        if (outcome?.kind === "input" || isUnacted(outcome)) running.used({ call: 0 });
        note(this.#host, tool, running, { outcome: outcome?.kind ?? "left", bytesIn: bytes, bytesOut });
        if (failure) fail(failure);
        else done();
      };
      run(running.stop.signal, ended, beside).then(resolve, (thrown: unknown) => {
        reject(thrown);
        fail(thrown);
      });
    });
  }

  async #toolOf(visitor: Visitor, name: string, server: string | undefined): Promise<Tool | undefined> {
    const { caller } = visitor;
    const key = JSON.stringify([server ?? "", name]);
    const known = this.#tools.get(key);
    if (known) return known;
    const ask = { kind: "resolve" as const, caller, name, ...(server !== undefined && { server }) };
    const value = (await valueOf(this.#ask(ask))) as Tool | { fault: unknown };
    if ("fault" in value) return undefined;
    if (this.#tools.size >= MOST_NAMES) this.#tools.clear();
    this.#tools.set(key, value);
    return value;
  }
}

/** Counts a call that has ended, and notes it for its record. */
export function note(
  { meter }: Pick<WorkerHost, "meter">,
  { name, server }: Tool,
  { record }: Pick<RunningWork, "record">,
  facts: Omit<ToolFacts, "server">,
): void {
  toolCall.set(record, { server, ...facts });
  meter.add(toolCalls, [server, name.slice(server.length + SEPARATOR), facts.outcome]);
}

/** The work of a call of a tool, without its code. */
export function workOf(
  { prices, servers }: ToolsConfig,
  { name, server }: Tool,
  principal: Principal | undefined,
): Omit<Work<never>, "run" | "parent"> {
  return {
    ...{ by: BY, name, at: server, units: { call: 1 }, price: { call: priceOf(prices, name) } },
    ...{ payer: principal ? { principal } : {}, route: ROUTE },
    timeoutMs: (servers[server]?.timeoutMs ?? TIMEOUT_MS) + MARGIN_MS,
  };
}

/** The server did not run the tool. */
export function isUnacted(outcome: Outcome | undefined): boolean {
  const { code } = outcome ?? {};
  return code !== undefined && code !== CODE.cut && code !== CODE.timeout && code !== CODE.invalid;
}

/** Why the call counts as failed. An error that the tool itself reports is a result. */
export function failureOf(outcome: Outcome | undefined): GatewayError | undefined {
  if (!outcome)
    return new GatewayError("upstream", "The call of the tool ended without an answer.", {
      code: "tool_cut",
    });
  const { kind, code } = outcome;
  if (kind !== "error") return undefined;
  if (code === CODE.timeout) return new GatewayError("timeout", "The tools server did not answer in time.");
  const message = `The call of the tool ended with the error ${code}.`;
  return new GatewayError(code === CODE.params ? "invalid-request" : "upstream", message, {
    code: `mcp_${code}`,
  });
}
