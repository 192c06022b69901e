/** The record of a call says that its bodies are kept. */
import { Type } from "@sinclair/typebox";
import { column } from "../../core/column.ts";

export const captured = column({
  name: "captured",
  schema: Type.Literal(true, {
    description: "weir keeps its bodies: `GET /admin/v1/calls/{id}/body`. Of one call only.",
  }),
  before: "facts",
});
