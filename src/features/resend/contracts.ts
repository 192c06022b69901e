/** Sending captured calls again. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../operator/contract.ts";
import { RELAYED } from "../../operator/routing.ts";
import { answer, request } from "../../operator/shapes.ts";

const OF = {
  model: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: "Default: the model that the call named." }),
  ),
  key: Type.Optional(
    Type.String({
      maxLength: 100,
      description: "Id or name of the key that pays. Default: the key of the call.",
    }),
  ),
};

const names = (description: string) => Type.Array(Type.String(), { description });

/** What a call would be if it were sent again. */
export const ReplayPlan = answer({
  format: Type.String(),
  stream: Type.Boolean({ description: "It is sent as it was: as a stream or not." }),
  /** Of the body. */
  bytes: Type.Integer(),
  masked: Type.Boolean({ description: "`***` is in the body, in place of a credential." }),
  tools: names("Names of the tools that the request offers."),
  runs: names("Those that weir itself would run again."),
  status: Type.Integer({ description: "200, or what the call would get." }),
  fault: Type.Optional(Type.String({ description: "Why it would get that." })),
  servedBy: Type.Optional(
    answer({ provider: Type.String(), model: Type.String(), lane: Type.String(), tries: Type.Integer() }),
  ),
  cost: Type.Optional(
    Type.Unknown({
      description: "What the call may cost, and the budgets that it asks, as `explain` has it.",
    }),
  ),
  losses: Type.Optional(Type.Integer({ description: "Parts that the provider's format cannot carry." })),
});
export type ReplayPlan = Static<typeof ReplayPlan>;

const NEEDS = { role: "admin", on: "path" } as const;
const ERRORS = ["not_found", "not_captured", "not_repeatable", "gateway_failed"] as const;

export const explainReplay = contract({
  method: "POST",
  path: "/admin/v1/calls/{id}/replay/explain",
  id: "explainReplay",
  summary: "What a captured call would cost if it were sent again; nothing is sent",
  needs: NEEDS,
  alone: true,
  body: request(OF),
  bodyOptional: true,
  answer: { name: "ReplayPlan", schema: ReplayPlan },
  errors: ERRORS,
});

export const replayCall = contract({
  method: "POST",
  path: "/admin/v1/calls/{id}/replay",
  id: "replayCall",
  summary: "Sends a captured call again; answers what the gateway answers",
  description: `An ordinary call, which is booked, with \`replayOf\` in its record. An answer of the gateway has the header \`${RELAYED}: 1\`; without it the answer is an error of this API. Each leaves an entry in the audit log.`,
  needs: NEEDS,
  alone: true,
  body: request({
    ...OF,
    runTools: Type.Boolean({
      default: false,
      description:
        "Whether weir may run tools again. Without it a call whose tools weir would run is refused.",
    }),
  }),
  bodyOptional: true,
  answer: { text: "*/*" },
  errors: [...ERRORS, "tools_would_run"],
});
