/** The option of keys whose programs call on behalf of people. */
import { Type } from "@sinclair/typebox";
import { keyOption } from "../../ledger/keys/option.ts";

export const act = keyOption<boolean>({
  name: "act",
  schema: Type.Boolean({
    description:
      "Whether its calls may say by `x-weir-person` on behalf of whom they are: of people at its path and below.",
  }),
  config: Type.Boolean({
    description:
      "Whether its calls may say by `x-weir-person` on behalf of whom they are: of people at its path and below. Default: false.",
  }),
  flag: {
    name: "--act",
    help: "its calls may name the people at its path and below for whom they are",
    read: () => true,
  },
  label: "Calls on behalf of people",
  narrows: (own, maker) => (maker || own !== true ? undefined : "act must not be true"),
  words: (permitted) => (permitted ? "on behalf of people below its path" : undefined),
});
