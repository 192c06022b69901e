/** The batch of a call, in the record of the call. */
import { Type } from "@sinclair/typebox";
import { column } from "../../core/column.ts";
import { Slot } from "../../core/slot.ts";

export const batchId = column({
  name: "batch",
  schema: Type.Unsafe<string>(
    Type.String({ description: "Id of the batch for a line of which weir made the call." }),
  ),
  before: "facts",
  log: { name: "batch" },
  filter: { value: "ID", help: "calls for lines of this batch" },
});

export interface Line {
  /** Number of the line, from 1. */
  readonly number: number;
  /** How often it was tried before. */
  readonly attempt: number;
  /** The process ended while it ran, and what it cost is assumed. */
  readonly lost?: boolean;
}

export const batchLine = column({
  name: "batchLine",
  schema: Type.Unsafe<Line>(
    Type.Object(
      {
        number: Type.Integer({ description: "Number of the line, from 1." }),
        attempt: Type.Integer({ description: "How often the line was tried before." }),
        lost: Type.Optional(
          Type.Boolean({
            description:
              "The process ended while it ran. The provider may have answered: the charge is assumed.",
          }),
        ),
      },
      { description: "The line of the batch." },
    ),
  ),
  before: "facts",
  log: { name: "batchLine" },
  fact: { label: "Line of a batch", text: ({ number, lost }) => (lost ? `${number}, lost` : String(number)) },
});

/** Called when the record of the call is written. @param cost nano-dollars */
export const onBooked = new Slot<(cost: number) => void>();
