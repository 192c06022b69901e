/**
 * The schema of a Messages request, used for validation and the OpenAPI document. It covers the fields whose shape weir
 * relies on, leaves the rest to the provider and allows unknown members at every level, because new vendor fields, block
 * types and tool types must pass.
 */
import type { TSchema } from "@sinclair/typebox";
import { Type } from "@sinclair/typebox";

const OPEN = { additionalProperties: true };

/** An optional field. `null` counts as absent, because users of the SDK send it. */
function optional(schema: TSchema) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Any object with a type: blocks and tools are open unions. */
const Typed = Type.Object({ type: Type.String() }, OPEN);

const Content = Type.Union([Type.String(), Type.Array(Typed)], {
  description: "Text, or a list of content blocks.",
});

const Turn = Type.Object(
  {
    role: Type.Union([Type.Literal("user"), Type.Literal("assistant")]),
    content: Content,
  },
  OPEN,
);

const SystemTurn = Type.Object({ role: Type.Literal("system"), content: optional(Content) }, OPEN);

export const MessagesRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: "Model identifier, at most 256 bytes of UTF-8." }),
    messages: Type.Array(Type.Union([Turn, SystemTurn]), {
      minItems: 1,
      description:
        "The conversation in chronological order. The first message must not have the role `system`.",
    }),
    max_tokens: Type.Integer({
      minimum: 1,
      description: "Maximum number of tokens to generate, including reasoning.",
    }),
    system: optional(Type.Union([Type.String(), Type.Array(Typed)], { description: "System prompt." })),
    stream: optional(Type.Boolean({ description: "`true` streams the answer as server-sent events." })),
    temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: optional(Type.Integer({ minimum: 0 })),
    stop_sequences: optional(Type.Array(Type.String())),
    tools: optional(Type.Array(Type.Object({}, OPEN))),
    tool_choice: optional(Typed),
    thinking: optional(Typed),
    output_config: optional(Type.Object({}, OPEN)),
    metadata: optional(Type.Object({}, OPEN)),
    service_tier: optional(Type.String()),
    cache_control: optional(Typed),
  },
  { ...OPEN, title: "MessagesRequest" },
);
