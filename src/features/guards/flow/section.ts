/** The options `limits`, and `flow`: which tools a model may not call once untrusted text is in the conversation. */
import { type Static, Type } from "@sinclair/typebox";
import { CLOSED, oneOf } from "../../../config/sections/kinds.ts";
import { BLOCKS, FLOWS, SOURCES } from "../declarations.ts";

const list = (description: string, examples: readonly string[]) =>
  Type.Optional(Type.Array(Type.String(), { examples: [examples], description }));

export const flow = Type.Object(
  {
    from: Type.Array(oneOf(SOURCES, {}), {
      minItems: 1,
      "x-expects": `a list of ${SOURCES.join(", ")}`,
      description: "Which texts are untrusted: `tool-results`, `documents` (files and images as well).",
    }),
    to: Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      examples: [["github__create_*", "send_email"]],
      description: "Names of tools, or patterns of them. Those that weir runs are `SERVER__TOOL`.",
    }),
    do: oneOf(FLOWS, {
      description:
        "`approve`: a client that can ask its user is asked first for tools that weir runs; all other calls are blocked. `block`: all calls are blocked.",
    }),
    as: Type.Optional(
      oneOf(BLOCKS, { description: "How a client learns that the call is blocked. Default: `error`." }),
    ),
    keys: list("As for a guard. Default: all.", ["/eng"]),
    models: list("As for a guard. Default: all.", ["openai/*"]),
  },
  {
    ...CLOSED,
    description:
      "Tools that a model may not call if untrusted text came since the last turn of the user, whatever the text says.",
  },
);

export type FlowOptions = Static<typeof flow>;

const most = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }));

export const limits = Type.Object(
  {
    characters: most("Characters of all texts of a request that the guard looks at."),
    tools: most("Tools that a request declares."),
    repeatedLines: most("Times that one text has the same line of at least four characters."),
  },
  { ...CLOSED, description: "The most that a request may have. Default: there is no limit." },
);

export type Limits = Static<typeof limits>;
