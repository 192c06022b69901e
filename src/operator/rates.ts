/** Rate limits: what is left of them, and what creates and changes them. */
import { type Static, Type } from "@sinclair/typebox";
import { answer, CLOSED, mapOf, NAME, request, SETS, SUBJECT, UNITS, WARNINGS, words } from "./shapes.ts";

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
