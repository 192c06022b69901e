/** The members of a call's record that are declared as columns, in every build. */
import { Type } from "@sinclair/typebox";
import { column } from "../core/column.ts";
import { MAX_PROVIDER_TEXT } from "./record.ts";

const upstreamId = column({
  name: "upstreamId",
  schema: Type.String({ description: "The provider's id of the request." }),
  of: ({ attempt }) => attempt?.upstreamRequestId?.slice(0, MAX_PROVIDER_TEXT),
  fact: { label: "Provider's id", text: (id) => id },
});

export const LEDGER_COLUMNS = [upstreamId];
