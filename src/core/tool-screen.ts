/** What looks at the tools that weir runs, for one call of a client. */
import type { GatewayError } from "./error.ts";
import type { JsonObject } from "./json.ts";
import { type Noted, Slot } from "./slot.ts";

export interface ToolScreen {
  /** @returns undefined: a model may call the tool now */
  heldBack(tool: string): HeldBack | undefined;
  /** The arguments as the server gets them. @throws GatewayError: the tool does not run */
  arguments(tool: string, given: JsonObject): JsonObject | Promise<JsonObject>;
  /**
   * A result (`CallToolResult`) that the model gets in place of the tool's own: the tool does not run.
   * @param annotations what the server says of the tool @returns undefined: it may run
   */
  instead?(tool: string, annotations: JsonObject): JsonObject | undefined;
  /** What it finds is for the record of this work. */
  noteFor(work: Noted): void;
  /** The result (`CallToolResult`) as who called the tool gets it. @throws GatewayError: it gets none */
  result(tool: string, given: JsonObject): JsonObject | Promise<JsonObject>;
}

/** A call of a tool that must not run as it is. */
export interface HeldBack {
  /** It may run once the user has allowed it. */
  readonly mayAsk: boolean;
  /** What ends the answer where no user can be asked. */
  readonly error: GatewayError;
}

/** A part that is around a call sets it; what runs tools for the call asks it. */
export const toolScreen = new Slot<ToolScreen>();
