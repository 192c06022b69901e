/** Bodies of calls that the config captures. Who may only read what calls cost must not read what they contain. */
import { Type } from "@sinclair/typebox";
import { actorOf } from "../entries.ts";
import { AdminError, notFound } from "../../operator/errors.ts";
import { seesCall } from "../filter.ts";
import { operation } from "../operation.ts";
import { DRY_RUN, Pruned, request } from "../../operator/shapes.ts";
import { CapturedCall } from "../../operator/captures.ts";

export const captureOperations = [
  operation({
    method: "GET",
    path: "/admin/v1/calls/{id}/body",
    id: "getCallBody",
    summary: "The request and the answer of a captured call",
    description: "Each look leaves an entry in the audit log.",
    access: "write",
    answer: { name: "CapturedCall", schema: CapturedCall },
    errors: ["not_found", "not_captured"],
    async handle(given) {
      const { books, caller, params } = given;
      const id = params["id"]!;
      const call = await books.call(id);
      if (!call || !seesCall(given, call)) throw notFound("call", id);
      const captured = await books.captures.read(id, actorOf(caller));
      if (captured) return { json: captured };
      throw new AdminError(
        404,
        "not_captured",
        "weir has not captured the call, or no longer keeps it; the section capture of the config says which calls it captures.",
      );
    },
  }),
  operation({
    method: "DELETE",
    path: "/admin/v1/captures",
    id: "deleteCaptures",
    summary: "Deletes all captured calls",
    access: "write",
    wholeGateway: true,
    query: request({ dryRun: DRY_RUN }),
    answer: { name: "Pruned", schema: Pruned },
    async handle({ books, caller, query }) {
      const captured = await books.captures.deleteAll(actorOf(caller), query.dryRun);
      return { json: { rows: captured.rows, tables: { captured } } };
    },
  }),
];
