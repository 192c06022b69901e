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

const count = (description: string) => Type.Integer({ minimum: 0, description });
const byTool = (description: string) =>
  Type.Optional(Type.Array(Type.Tuple([Type.String(), count("Number.")]), { description }));

/** The tools of one call, as far as their costs follow from them. */
export const toolUse = column({
  name: "toolUse",
  schema: Type.Object(
    {
      set: Type.String({ description: "Hash of the definitions that it carried: 16 hexadecimal digits." }),
      bytes: count("Size of the prompt with the definitions."),
      results: Type.Optional(
        Type.Array(
          Type.Tuple([Type.String(), count("Not cached."), count("Written."), count("Read from a cache.")]),
          { description: "Tokens of the results in the conversation, by tool." },
        ),
      ),
      errors: byTool("New results that say that the tool failed."),
      calls: byTool("Calls of tools in the answer."),
      unread: Type.Optional(
        Type.Literal(true, {
          description: "weir could not read which tools the request has, or the answer calls.",
        }),
      ),
    },
    { description: "With `tools.cost`: the tools that the call carried, their results and their calls." },
  ),
});

/** The definitions behind the hash of {@link toolUse}, on some of the calls that carried them. */
export const toolSet = column({
  name: "toolSet",
  schema: Type.Array(Type.Tuple([Type.String(), count("Bytes."), count("1: the vendor runs it.")]), {
    description: "Names and sizes of the definitions.",
  }),
  store: "none",
});
