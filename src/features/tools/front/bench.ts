/** The tools of callers for the loop: lists and calls by the process, each call in the books. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Principal } from "../../../core/principal.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import type { RunningWork } from "../../../gateway/work.ts";
import type { Bench, OfferedTools, ToolCall, ToolResult } from "../bench.ts";
import type { ToolsConfig } from "../section.ts";
import { type Samplers, withSamples } from "../sampling/serve.ts";
import { McpError, type RpcError } from "../wire/messages.ts";
import type { Access } from "./access.ts";
import { failureOf, isUnacted, note, workOf } from "./books.ts";
import { type AskTools, valueOf } from "./process.ts";

export class ProcessBench implements Bench {
  readonly #host: Pick<WorkerHost, "work" | "meter">;
  readonly #ask: AskTools;
  readonly #access: Access;
  readonly #options: ToolsConfig;
  readonly #samplers: Samplers;

  constructor(
    host: Pick<WorkerHost, "work" | "meter">,
    ask: AskTools,
    access: Access,
    { options, samplers }: { options: ToolsConfig; samplers: Samplers },
  ) {
    this.#host = host;
    this.#ask = ask;
    this.#access = access;
    this.#options = options;
    this.#samplers = samplers;
  }

  async list(principal: Principal | undefined, servers?: readonly string[]): Promise<OfferedTools> {
    const caller = this.#access.of(principal);
    const wanted = servers
      ? { ...caller, servers: caller.servers.filter((one) => servers.includes(one)) }
      : caller;
    const value = await valueOf(this.#ask({ kind: "tools", caller: wanted }));
    return unlessFault<OfferedTools>(value);
  }

  async call({ name, arguments: args, principal, parent, stop }: ToolCall): Promise<ToolResult> {
    const caller = this.#access.of(principal);
    const named = await valueOf(this.#ask({ kind: "resolve", caller, name }, stop));
    const tool = unlessFault<{ name: string; server: string }>(named);
    const work = workOf(this.#options, tool, principal);
    let fault: McpError | undefined;
    const run = async (running: RunningWork): Promise<ToolResult> => {
      const ended = stop ? AbortSignal.any([running.stop.signal, stop]) : running.stop.signal;
      const trace = running.trace();
      const message = { kind: "call" as const, caller, name, arguments: args, ...(trace && { trace }) };
      const sample = this.#samplers.of(running, principal);
      const value = await valueOf(withSamples(this.#ask, message, ended, sample));
      try {
        const { result } = unlessFault<{ result: ToolResult }>(value);
        const kind = result["isError"] === true ? "tool_error" : "result";
        note(this.#host, tool, running, { outcome: kind, ...sizesOf(args, result) });
        return result;
      } catch (thrown) {
        fault = thrown as McpError;
        const outcome = { kind: "error" as const, code: fault.code };
        if (isUnacted(outcome)) running.used({ call: 0 });
        note(this.#host, tool, running, { outcome: "error", ...sizesOf(args, {}) });
        throw failureOf(outcome) ?? fault;
      }
    };
    return this.#host.work({ ...work, ...(parent && { parent }), run }).catch((thrown: unknown) => {
      throw fault ?? thrown;
    });
  }
}

function sizesOf(args: JsonObject, result: ToolResult) {
  const [bytesIn, bytesOut] = [args, result].map((one) => Buffer.byteLength(JSON.stringify(one)));
  return { bytesIn: bytesIn!, bytesOut: bytesOut! };
}

/** @throws McpError */
function unlessFault<Value>(value: unknown): Value {
  const fault = isObject(value) ? (value["fault"] as RpcError | undefined) : undefined;
  if (!fault) return value as Value;
  throw new McpError(fault.code, fault.message, fault.data === undefined ? {} : { data: fault.data });
}
