/** The options of rehearse in weir.yaml. */
import { Type } from "@sinclair/typebox";
import { section } from "../../config/section.ts";
import { CLOSED, oneOf } from "../../config/sections/kinds.ts";

export const rehearseSection = section(
  "rehearse",
  Type.Object(
    {
      outlines: oneOf(["auto", "on", "off"], {
        default: "auto",
        description:
          "Whether weir keeps an outline of each call for `weir rehearse`: the shape of its request, without a text, a name or an argument. `auto`: when a state folder is named (`state`).",
      }),
      share: Type.Number({
        minimum: 0,
        maximum: 1,
        default: 0.01,
        description:
          "Most of the time of a worker that outlines may take. Calls beyond it have none, and `weir_outlines_total` counts them.",
      }),
      days: Type.Integer({
        minimum: 1,
        maximum: 3_650,
        default: 30,
        description: "How long an outline is kept, in days.",
      }),
      fileBytes: Type.Integer({
        minimum: 1_048_576,
        maximum: 9_007_199_254_740_991,
        default: 268_435_456,
        description: "Maximum size of all outlines, in bytes. Beyond it weir deletes the oldest.",
      }),
    },
    CLOSED,
  ),
);
