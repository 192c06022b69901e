/** The option of keys that narrows which tools they may use. */
import { Type } from "@sinclair/typebox";
import { keyOption } from "../../ledger/keys/option.ts";
import { covers } from "./declarations.ts";

const patterns = (description: string) => Type.Array(Type.String(), { description });

export const tools = keyOption<readonly string[]>({
  name: "tools",
  schema: patterns("The tools that the key may use, as `SERVER__TOOL`; `*` stands for any text."),
  config: patterns(
    "The tools that the key may use, of the servers that allow it, as `SERVER__TOOL`; `*` stands for any text, and `!` in front takes tools away. Default: all.",
  ),
  flag: {
    name: "--tools",
    value: "PATTERNS",
    help: "the tools that it may use, such as github__get_*, separated by commas (default: all that its servers allow)",
    read(text) {
      const read = text.split(",").map((one) => one.trim());
      if (read.some((one) => one === "")) throw new Error("must be patterns separated by commas");
      return read;
    },
  },
  label: "Tools",
  narrows: (own, maker) =>
    own?.every((pattern) => pattern.startsWith("!") || covers(maker, pattern))
      ? undefined
      : "tools must be among those of the key that makes it",
  words: (permitted) => `the tools ${permitted.join(", ")}`,
});
