/** Rate limits: what is left of them, and what creates and changes them. */
import {
  answer,
  CLOSED,
  mapOf,
  NAME,
  PAGE,
  pageOf,
  request,
  SETS,
  SUBJECT,
  UNITS,
  WARNINGS,
  words,
} from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "./contract.ts";

export const NewRate = request({ name: NAME, on: SUBJECT, limits: UNITS, burst: Type.Optional(UNITS) });
export type NewRate = Static<typeof NewRate>;
export const RateChange = Type.Partial(NewRate, CLOSED);
export type RateChange = Static<typeof RateChange>;
export const Rate = answer({
  id: Type.String(),
  name: Type.String(),
  on: SUBJECT,
  limits: mapOf(Type.Integer(), "By unit."),
  burst: Type.Optional(mapOf(Type.Integer(), "By unit.")),
  source: words(["config", "store"]),
  sets: SETS,
  warnings: WARNINGS,
  version: Type.String({ description: "For `If-Match`." }),
  left: mapOf(Type.Number(), "What may be used at once, by unit."),
});
export type Rate = Static<typeof Rate>;

const ONE = { name: "Rate", schema: Rate };

export const listRates = contract({
  method: "GET",
  path: "/admin/v1/rates",
  id: "listRates",
  summary: "Rate limits, and what may be used at once",
  needs: { role: "read", on: "path" },
  query: request(PAGE),
  answer: { name: "Rates", schema: pageOf("rates", Rate) },
});

export const createRate = contract({
  method: "POST",
  path: "/admin/v1/rates",
  id: "createRate",
  summary: "Creates a rate limit",
  needs: { role: "admin", on: "path" },
  body: NewRate,
  answer: ONE,
  status: 201,
  errors: ["conflict", "not_permitted", "not_found"],
});

export const getRate = contract({
  method: "GET",
  path: "/admin/v1/rates/{id}",
  id: "getRate",
  summary: "One rate limit, by id or name",
  needs: { role: "read", on: "path" },
  answer: ONE,
  errors: ["not_found"],
});

export const changeRate = contract({
  method: "PATCH",
  path: "/admin/v1/rates/{id}",
  id: "changeRate",
  summary: "Changes a rate limit",
  needs: { role: "admin", on: "path" },
  body: RateChange,
  answer: ONE,
  errors: ["not_found", "declared", "conflict", "not_permitted"],
});

export const deleteRate = contract({
  method: "DELETE",
  path: "/admin/v1/rates/{id}",
  id: "deleteRate",
  summary: "Deletes a rate limit",
  needs: { role: "admin", on: "path" },
  answer: { name: "Deleted", schema: Type.Object({ id: Type.String(), deleted: Type.Boolean() }) },
  errors: ["not_found", "declared"],
});
