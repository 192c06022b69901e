/** Writers for tools that ran on the server's side: calls of a server of tools, its list, and calls that need consent. */
import type { HostedResult, HostedStart } from "../../../core/events.ts";
import type { JsonObject } from "../../../core/json.ts";
import { OWN_MARK } from "../ids.ts";
import { type ItemWriter, type Output, type Status, Writer } from "./writer.ts";

/** Creates the writer of a hosted tool. */
export function createHostedWriter(start: HostedStart, output: Output): ItemWriter {
  switch (start.kind) {
    case "call":
      return new HostedCallWriter(start, output);
    case "approval":
      return new ApprovalWriter(start, output);
    case "list":
      return new ListWriter(start, output);
  }
}

/** Keeps the id of the block, because clients name it when they consent. */
abstract class HostedWriter extends Writer {
  readonly start: HostedStart;
  readonly #id: string;

  constructor(start: HostedStart, prefix: string, output: Output) {
    super(output);
    this.start = start;
    this.#id = `${prefix}${OWN_MARK}${start.id}`;
  }

  override get id(): string {
    return this.#id;
  }
}

class HostedCallWriter extends HostedWriter implements ItemWriter {
  #arguments = "";
  #runs = false;
  #result: HostedResult | undefined;

  constructor(start: HostedStart, output: Output) {
    super(start, "mcp", output);
    this.open("mcp_call");
    this.emit("response.mcp_call.in_progress", {});
  }

  write(fragment: string): void {
    this.#arguments += fragment;
    this.emit("response.mcp_call_arguments.delta", { delta: fragment });
  }

  run(): void {
    if (this.#runs) return;
    this.#runs = true;
    // Clients call JSON.parse on the arguments.
    if (this.#arguments === "") this.write("{}");
    this.emit("response.mcp_call_arguments.done", { arguments: this.#arguments });
  }

  end(_: string | undefined, result?: HostedResult): void {
    this.run();
    this.#result = result;
    this.emit(`response.mcp_call.${errorOf(result) === undefined ? "completed" : "failed"}`, {});
  }

  close(status: Status): void {
    this.done(status);
  }

  value(status: Status): JsonObject {
    const error = errorOf(this.#result);
    const { server, name, approval } = this.start;
    return {
      id: this.id,
      type: "mcp_call",
      status: this.#result === undefined ? status : error === undefined ? "completed" : "failed",
      approval_request_id: approval ?? null,
      server_label: server,
      name,
      arguments: this.#arguments,
      output: this.#result && "output" in this.#result ? this.#result.output : null,
      error:
        error === undefined
          ? null
          : { type: "mcp_tool_execution_error", content: [{ type: "text", text: error }] },
    };
  }
}

class ListWriter extends HostedWriter implements ItemWriter {
  #result: HostedResult | undefined;

  constructor(start: HostedStart, output: Output) {
    super(start, "mcpl", output);
    this.open("mcp_list_tools");
    this.emit("response.mcp_list_tools.in_progress", {});
  }

  write(): void {}

  end(_: string | undefined, result?: HostedResult): void {
    this.#result = result;
    this.emit(`response.mcp_list_tools.${errorOf(result) === undefined ? "completed" : "failed"}`, {});
  }

  close(status: Status): void {
    this.done(status);
  }

  value(): JsonObject {
    const tools = this.#result && "tools" in this.#result ? this.#result.tools : [];
    return {
      id: this.id,
      type: "mcp_list_tools",
      server_label: this.start.server,
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        description: description ?? null,
        input_schema: parameters,
        annotations: null,
      })),
      error: errorOf(this.#result) ?? null,
    };
  }
}

/** Writes a call that the client has to allow. The item has no events but its beginning and its end. */
class ApprovalWriter extends HostedWriter implements ItemWriter {
  #arguments = "";

  constructor(start: HostedStart, output: Output) {
    super(start, "mcpr", output);
    this.open("mcp_approval_request");
  }

  write(fragment: string): void {
    this.#arguments += fragment;
  }

  end(): void {}

  close(status: Status): void {
    this.done(status);
  }

  value(): JsonObject {
    const { server, name } = this.start;
    return {
      id: this.id,
      type: "mcp_approval_request",
      server_label: server,
      name,
      arguments: this.#arguments || "{}",
    };
  }
}

function errorOf(result: HostedResult | undefined): string | undefined {
  return result && "error" in result ? result.error : undefined;
}
