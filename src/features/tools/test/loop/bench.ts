/** Tools for tests: a bench that lists what it is given, and notes what was called. */
import type { JsonObject } from "../../../../core/json.ts";
import type { Principal } from "../../../../core/principal.ts";
import type { NamedPart, WorkerHost, WorkerPart } from "../../../../gateway/seams.ts";
import type { Bench, OfferedTool, OfferedTools, ToolCall, ToolResult } from "../../bench.ts";
import { loopSeams, type RunOptions } from "../../loop/seams.ts";

export const text = (said: string): ToolResult => ({ content: [{ type: "text", text: said }] });

type Run = (input: JsonObject, call: ToolCall) => ToolResult | Promise<ToolResult>;

const schema: JsonObject = { type: "object", properties: { word: { type: "string" } } };

export class FakeBench implements Bench {
  readonly calls: ToolCall[] = [];
  lists = 0;
  /** Calls that ran. */
  ran = 0;
  /** Dollars a call. */
  price = 0;
  /** Calls that run now, and the most that ever ran at once. */
  running = 0;
  most = 0;
  readonly unavailable: { server: string; reason: string }[] = [];
  readonly tools: OfferedTool[];
  readonly #runs = new Map<string, Run>();
  host: WorkerHost | undefined;

  /** @param runs by `SERVER__TOOL` */
  constructor(runs: Record<string, Run>) {
    this.tools = Object.entries(runs).map(([name, run]) => {
      this.#runs.set(name, run);
      const [server, tool] = name.split("__") as [string, string];
      return { name, server, tool, description: `Runs ${tool}.`, inputSchema: schema };
    });
  }

  async list(_: Principal | undefined, servers?: readonly string[]): Promise<OfferedTools> {
    this.lists++;
    const isWanted = ({ server }: { server: string }) => !servers || servers.includes(server);
    return { tools: this.tools.filter(isWanted), unavailable: this.unavailable.filter(isWanted) };
  }

  call(call: ToolCall): Promise<ToolResult> {
    this.calls.push(call);
    const run = async () => {
      this.ran++;
      this.running++;
      this.most = Math.max(this.most, this.running);
      try {
        return await this.#runs.get(call.name)!(call.arguments, call);
      } finally {
        this.running--;
      }
    };
    if (!this.host) return run();
    const [at] = call.name.split("__") as [string];
    const payer = call.principal ? { principal: call.principal } : {};
    const { parent } = call;
    return this.host.work({
      ...{ by: "mcp", name: call.name, at, payer, ...(parent && { parent }) },
      ...{ units: { call: 1 }, price: { call: this.price }, timeoutMs: 60_000, run },
    });
  }
}

const LIMITS: RunOptions = { maxTurns: 8, maxCalls: 32, timeoutMs: 120_000, models: {} };

/** A part of a gateway that runs these tools, each as work in the books. */
export function benchPart(
  bench: FakeBench,
  limits: Partial<RunOptions> = {},
): NamedPart<WorkerHost, WorkerPart> {
  const start = (host: WorkerHost): WorkerPart => {
    bench.host = host;
    return { seams: () => loopSeams(bench, { ...LIMITS, ...limits }) };
  };
  return { name: "bench", load: async () => ({ start }) };
}
