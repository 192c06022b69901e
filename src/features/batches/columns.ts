/** The batch of a call, in the record of the call. */
import { Type } from "@sinclair/typebox";
import { column } from "../../core/column.ts";
import { Slot } from "../../core/slot.ts";

export interface LineOf {
  /** Id of the batch. */
  readonly batch: string;
  /** Number of the line, from 1. */
  readonly line: number;
  /** How often it was tried before. */
  readonly attempt: number;
}

export const batchLine = column({
  name: "batch",
  schema: Type.Unsafe<LineOf>(
    Type.Object(
      {
        batch: Type.String({ description: "Id of the batch." }),
        line: Type.Integer({ description: "Number of the line, from 1." }),
        attempt: Type.Integer({ description: "How often the line was tried before." }),
      },
      { description: "The line of a batch for which weir made the call." },
    ),
  ),
  before: "facts",
  line: ({ batch, line }) => `batch ${batch}:${line}`,
  log: { name: "batch" },
  fact: { label: "Batch", text: ({ batch, line }) => `${batch}, line ${line}` },
});

/** Called when the record of the call is written. @param cost nano-dollars */
export const onBooked = new Slot<(cost: number) => void>();
