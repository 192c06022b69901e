/** The option of keys that adds guards to their calls. */
import { Type } from "@sinclair/typebox";
import { keyOption } from "../../ledger/keys/option.ts";

const names = (description: string) => Type.Array(Type.String(), { description });

export const addedGuards = keyOption<readonly string[]>({
  name: "guards",
  schema: names("Guards that look at the calls of the key, besides those that do so anyway."),
  config: names(
    "Guards that look at the calls of the key, besides those that do so anyway; a guard with `keys: []` looks at such calls alone. A key can add guards, and turn none off.",
  ),
  flag: {
    name: "--guards",
    value: "NAMES",
    help: "guards that look at its calls besides those that do so anyway, separated by commas",
    read(text) {
      const read = text.split(",").map((one) => one.trim());
      if (read.some((one) => one === "")) throw new Error("must be names of guards separated by commas");
      return read;
    },
  },
  label: "Guards",
  narrows: (own, maker) =>
    maker.every((name) => own?.includes(name))
      ? undefined
      : `guards must have those of the key that makes it: ${maker.join(", ")}`,
  words: (added) => (added.length === 0 ? undefined : `the guards ${added.join(", ")}`),
});
