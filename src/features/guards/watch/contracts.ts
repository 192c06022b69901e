/** Guards in the operator's API. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../../operator/contract.ts";
import { answer, request, time, words } from "../../../operator/shapes.ts";
import { PHASES, VERDICTS } from "../declarations.ts";

const GUARD = Type.String({ description: "Name of the guard." });
const PHASE = words(PHASES, "The request or the answer.");

export const GuardsView = answer({
  guards: Type.Optional(
    Type.Array(
      answer({
        name: GUARD,
        does: Type.String({ description: "What it does with a value: `do` of the config." }),
        finds: Type.Array(Type.String(), { description: "What it finds." }),
        narrowed: Type.Boolean({ description: "It is for some keys or models alone." }),
      }),
      { description: "Those of the config, in their order. Absent: no gateway runs." },
    ),
  ),
  hours: Type.Array(
    answer({
      hour: time("When it began."),
      guard: GUARD,
      phase: PHASE,
      verdict: words(VERDICTS),
      calls: Type.Integer(),
    }),
  ),
  unread: Type.Array(
    answer({
      guard: GUARD,
      kind: Type.String({ description: "Of content that weir cannot read." }),
      texts: Type.Integer(),
    }),
  ),
  blocked: Type.Array(
    answer({
      id: Type.String({ description: "Id of the call." }),
      at: time("When it began."),
      guard: GUARD,
      phase: PHASE,
      place: Type.String({ description: "Path of the text." }),
      kinds: Type.String({ description: "Kinds of the values." }),
    }),
    { description: "The last calls that a guard has blocked, the newest first." },
  ),
});
export type GuardsView = Static<typeof GuardsView>;

export const TriedText = answer({
  guards: Type.Array(
    answer({
      guard: GUARD,
      does: Type.String(),
      asks: Type.Boolean({ description: "It also asks a service, which was not asked." }),
      findings: Type.Array(
        answer({
          kind: Type.String(),
          rule: Type.Optional(Type.String()),
          start: Type.Integer({ description: "UTF-16 units of the text that the guard got." }),
          end: Type.Integer(),
        }),
      ),
    }),
    { description: "Each sees what the one before made; those behind one that blocks are absent." },
  ),
  text: Type.Optional(Type.String({ description: "As it would go on. Absent: a guard blocks it." })),
});
export type TriedText = Static<typeof TriedText>;

export const listGuards = contract({
  method: "GET",
  path: "/admin/v1/guards",
  id: "listGuards",
  summary: "The guards, and what they did: verdicts by hour, blocked calls, content that weir cannot read",
  needs: { role: "read", on: "gateway" },
  query: request({
    from: Type.Optional(time("Default: 24 hours ago.")),
    to: Type.Optional(time("Default: now.")),
  }),
  answer: { name: "GuardsView", schema: GuardsView },
});

export const tryGuards = contract({
  method: "POST",
  path: "/admin/v1/guards/try",
  id: "tryGuards",
  summary: "What the guards of the config make of a text, which is neither kept nor logged",
  needs: { role: "read", on: "gateway" },
  alone: true,
  body: request({ text: Type.String({ maxLength: 100_000 }) }),
  answer: { name: "TriedText", schema: TriedText },
  errors: ["gateway_failed"],
});
