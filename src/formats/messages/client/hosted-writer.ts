/** Writers for tools that run on the server's side: the call of one, and the tools of a server. */
import type { CodecContext } from "../../../core/context.ts";
import type { HostedResult, HostedStart } from "../../../core/events.ts";
import { ToolInputStream } from "../../shared/tool-input.ts";
import { type BlockWriter, type Out, Writer } from "./writer.ts";

/** Writes the call as two blocks: its arguments and its result. */
export class HostedCallWriter extends Writer implements BlockWriter {
  readonly #start: HostedStart;
  readonly #context: CodecContext;
  readonly #input = new ToolInputStream();
  #runs = false;

  constructor(start: HostedStart, context: CodecContext, out: Out) {
    super(out);
    this.#start = start;
    this.#context = context;
  }

  get #id(): string {
    return `mcptoolu_${this.#start.id}`;
  }

  open(): void {
    const { name, server } = this.#start;
    this.start({ type: "mcp_tool_use", id: this.#id, name, server_name: server, input: {} });
  }

  write(fragment: string): void {
    this.#emit(this.#input.push(fragment));
  }

  run(): void {
    if (this.#runs) return;
    this.#runs = true;
    const { rest, repair } = this.#input.end();
    this.#emit(rest);
    if (repair !== undefined) this.#context.reportLoss("repaired", `content[${this.index}].input`, repair);
    this.stop();
  }

  close(_?: string, result?: HostedResult): void {
    this.run();
    if (result === undefined) return;
    const failed = "error" in result;
    const text = failed ? result.error : "output" in result ? result.output : "";
    this.start({
      type: "mcp_tool_result",
      tool_use_id: this.#id,
      is_error: failed,
      content: text === "" ? [] : [{ type: "text", text }],
    });
    this.stop();
  }

  #emit(json: string): void {
    if (json !== "") this.delta({ type: "input_json_delta", partial_json: json });
  }
}

/** Writes a list whole, when it is known. */
export class HostedListWriter extends Writer implements BlockWriter {
  readonly #start: HostedStart;

  constructor(start: HostedStart, out: Out) {
    super(out);
    this.#start = start;
  }

  open(): void {}

  write(): void {}

  close(_?: string, result?: HostedResult): void {
    if (result === undefined || !("tools" in result)) return;
    this.start({
      type: "mcp_tool_listing",
      mcp_server_name: this.#start.server,
      tools: result.tools.map(({ name, description, parameters }) => ({
        name,
        ...(description !== undefined && { description }),
        input_schema: parameters,
      })),
    });
    this.stop();
  }
}
