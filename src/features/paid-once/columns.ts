/** Members of a call's record for repeats of requests. */
import { Type } from "@sinclair/typebox";
import { column } from "../../core/column.ts";

/** The note on a repeat: it cost nothing. */
export interface PaidOnce {
  /** Whether the first answer still ran when the repeat came. */
  answer: "running" | "finished";
  /** Id of the first call. */
  first: string;
}

/** The call is the repeat of a request and got the answer to it. */
export const paidBy = column({
  name: "paidOnce",
  schema: Type.Unsafe<PaidOnce>(
    Type.Object(
      {
        answer: Type.Union([Type.Literal("running"), Type.Literal("finished")]),
        first: Type.String({ description: "Id of that request." }),
      },
      {
        description:
          "The call got the answer to an earlier request, whose client had lost it. It reached no provider and cost nothing.",
      },
    ),
  ),
  log: { name: "paid_once", as: (paid) => ({ ...paid, cost: 0 }) },
  line: ({ first }) => `paid by ${first}`,
  fact: { label: "Paid by", text: ({ first }) => first },
});

/** The client left, and weir reads the answer on for a repeat of the request. */
export const leftByClient = column({
  name: "clientLeft",
  schema: Type.Literal(true, {
    description: "The client left, and weir read the answer on for a repeat of the request.",
  }),
  log: { name: "client_left" },
  line: () => "read on without its client",
  fact: { label: "Client left", text: () => "weir read the answer on for a repeat" },
});
