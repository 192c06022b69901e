/** What tools cost, in the operator's API. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../../operator/contract.ts";
import { answer, FILTER, nano, request, time } from "../../../operator/shapes.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });
const TOKENS = (description: string) =>
  answer(
    { uncached: count(""), write: count("Written to a cache."), read: count("Read from a cache.") },
    { description },
  );
const COST = (description: string) =>
  answer(
    { uncached: nano(""), write: nano("Writing to a cache."), read: nano("Reading from it.") },
    { description },
  );

export const ToolCost = answer({
  tool: Type.String({ description: "Its name in the requests." }),
  server: Type.Optional(Type.String({ description: "The server of weir that has it." })),
  isHosted: Type.Boolean({ description: "The vendor runs it: weir does not see its calls." }),
  carried: count("Calls that carried its definition."),
  definition: TOKENS("Tokens of its definition in all calls."),
  result: TOKENS("Tokens of its results in all calls, also in those of later turns."),
  definitionCost: COST("What the definition cost."),
  resultCost: COST("What the results cost."),
  uses: count("Calls of the tool."),
  errors: count("Results that say that it failed."),
  ran: nano("The price of its calls that weir ran."),
  cost: nano("All of it."),
  isUsed: Type.Boolean({ description: "It was called, or weir cannot rule that out." }),
  firstAt: time("The first call with it."),
  lastAt: time("The last one."),
});
export type ToolCost = Static<typeof ToolCost>;

export const ToolCostReport = answer({
  tools: Type.Array(ToolCost, { description: "The dearest first." }),
  rest: answer(
    {
      tokens: TOKENS("Input tokens."),
      cost: COST("What they cost."),
      other: nano("Output, searches, and charges that are not known to be input."),
    },
    { description: "What belongs to no tool." },
  ),
  calls: count("Calls of models with tools."),
  tokens: count("Their input tokens, as the books have them: the sum of all rows."),
  cost: nano("Their charges and those of the tools, as the books have them: the sum of all rows."),
  unknown: count("Calls whose definitions are not known: they are in the rest."),
  unread: count("Calls whose answer weir could not read: their tools count as used."),
  firstAt: Type.Optional(time("The first call with tools.")),
  searchedTo: Type.Optional(time("There are more calls: these are the newest, since then.")),
});
export type ToolCostReport = Static<typeof ToolCostReport>;

export const toolCosts = contract({
  method: "GET",
  path: "/admin/v1/tools/costs",
  id: "toolCosts",
  summary: "What tools cost: their definitions and results in calls of models, and their own calls",
  description:
    "Of calls while `tools.cost` was on. The rows and the rest add up to what the books charged, to the nano-dollar.",
  needs: { role: "read", on: "path" },
  query: request(FILTER),
  answer: { name: "ToolCosts", schema: ToolCostReport },
  errors: ["not_found"],
});
