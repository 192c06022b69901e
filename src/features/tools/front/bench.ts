/** The tools of callers for the loop: lists and calls by the process, each call in the books. */
import { isObject } from "../../../core/json.ts";
import type { Principal } from "../../../core/principal.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import type { Bench, OfferedTools, ToolCall, ToolResult } from "../bench.ts";
import type { ToolsConfig } from "../section.ts";
import { McpError, type RpcError } from "../wire/messages.ts";
import type { Access } from "./access.ts";
import { workOf } from "./books.ts";
import { type AskTools, valueOf } from "./process.ts";

export class ProcessBench implements Bench {
  readonly #host: Pick<WorkerHost, "work">;
  readonly #ask: AskTools;
  readonly #access: Access;
  readonly #options: ToolsConfig;

  constructor(host: Pick<WorkerHost, "work">, ask: AskTools, access: Access, options: ToolsConfig) {
    this.#host = host;
    this.#ask = ask;
    this.#access = access;
    this.#options = options;
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
    return this.#host.work({
      ...work,
      ...(parent && { parent }),
      run: async (running) => {
        const ended = stop ? AbortSignal.any([running.stop.signal, stop]) : running.stop.signal;
        const value = await valueOf(this.#ask({ kind: "call", caller, name, arguments: args }, ended));
        return unlessFault<{ result: ToolResult }>(value).result;
      },
    });
  }
}

/** @throws McpError */
function unlessFault<Value>(value: unknown): Value {
  const fault = isObject(value) ? (value["fault"] as RpcError | undefined) : undefined;
  if (!fault) return value as Value;
  throw new McpError(fault.code, fault.message, fault.data === undefined ? {} : { data: fault.data });
}
