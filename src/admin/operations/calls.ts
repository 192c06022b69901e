/** Calls: their records. */
import { Type } from "@sinclair/typebox";
import { CHARGE_STATES } from "../../ledger/charge.ts";
import { notFound } from "../errors.ts";
import { filterOf, seesCall } from "../filter.ts";
import { operation } from "../operation.ts";
import { FILTER, PAGE, request, words } from "../schemas.ts";
import { CALL_FILTER, CallEntry, Calls, REFUSALS } from "../schemas/calls.ts";

export const callOperations = [
  operation({
    method: "GET",
    path: "/admin/v1/calls",
    id: "listCalls",
    summary: "Records of calls, the newest first",
    description:
      "A search looks at a limited number of rows. `bounded: true` says that it ended there; `next` goes on.",
    access: "read",
    query: request({
      ...PAGE,
      ...FILTER,
      failed: CALL_FILTER.failed,
      slowerThan: CALL_FILTER.slowerThan,
      state: Type.Optional(words(CHARGE_STATES, "State of a charge.")),
      refused: Type.Optional(words(REFUSALS, "Why the gateway refused the call.")),
    }),
    answer: { name: "Calls", schema: Calls },
    errors: ["not_found"],
    async handle(given) {
      const { limit, after, failed, slowerThan, state, refused, ...filter } = given.query;
      const page = await given.books.calls({
        ...filterOf(given, filter),
        limit,
        ...present({ after, failed, slowerThan, state, refused }),
      });
      return { json: page };
    },
  }),
  operation({
    method: "GET",
    path: "/admin/v1/calls/{id}",
    id: "getCall",
    summary: "The record of one call",
    access: "read",
    answer: { name: "Call", schema: CallEntry },
    errors: ["not_found"],
    async handle({ books, caller, params }) {
      const call = await books.call(params["id"]!);
      if (!call || !seesCall({ caller }, call)) throw notFound("call", params["id"]!);
      return { json: call };
    },
  }),
];

/** Without the members that are undefined. */
function present<Members extends object>(
  members: Members,
): { [Name in keyof Members]: NonNullable<Members[Name]> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Members]: NonNullable<Members[Name]> };
}
