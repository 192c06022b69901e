/** The record of a call that was sent again names the first one. */
import { Type } from "@sinclair/typebox";
import { column } from "../../core/column.ts";

export const replayOf = column({
  name: "replayOf",
  schema: Type.String({ description: "Id of the captured call that the operator sent again by this one." }),
  log: { name: "replay_of" },
  line: (id) => `sends ${id} again`,
  fact: { label: "Sends again", text: (id) => id, find: (id) => id },
  filter: { value: "ID", help: "calls that send the call of this id again" },
});
