/** The call of a tool in the record of a call. */
import { Type } from "@sinclair/typebox";
import { column } from "../../core/column.ts";

export interface ToolFacts {
  readonly server: string;
  /** How it ended. `left`: the client or the process has gone. */
  readonly outcome: "result" | "tool_error" | "input" | "error" | "left";
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export const toolCall = column({
  name: "toolCall",
  schema: Type.Unsafe<ToolFacts>(
    Type.Object(
      {
        server: Type.String({ description: "Name of the server." }),
        outcome: Type.String({
          description:
            "`result`, `tool_error` (the tool says that it failed), `input` (the server waits for the client), `error` (no result), `left` (the client has gone).",
        }),
        bytesIn: Type.Integer({ description: "Size of the message of the client, in bytes." }),
        bytesOut: Type.Integer({ description: "Size of the answer, in bytes." }),
      },
      { description: "Of calls of tools: the server, how it ended, and how much went each way." },
    ),
  ),
  log: { name: "tool_call" },
  before: "facts",
  fact: {
    label: "Tool",
    text: ({ server, outcome, bytesIn, bytesOut }) =>
      `${server}: ${outcome.replace("_", " ")}, ${bytesIn} B in, ${bytesOut} B out`,
  },
});
