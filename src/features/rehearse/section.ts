/** The options of rehearse in weir.yaml. */
import { Type } from "@sinclair/typebox";
import { section } from "../../config/section.ts";

export const rehearseSection = section(
  "rehearse",
  Type.Object(
    { enabled: Type.Boolean({ default: false, description: "turns rehearse on" }) },
    { additionalProperties: false },
  ),
);
