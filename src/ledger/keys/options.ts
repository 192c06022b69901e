/** The options of keys that every build has, as far as they are declared in one place. */
import { Type } from "@sinclair/typebox";
import { type KeyOption, keyOption } from "./option.ts";

/** Whether the provider may run tools by itself. */
export const serverTools = keyOption<boolean>({
  name: "serverTools",
  schema: Type.Boolean({ description: "Whether the provider may search, fetch and run code." }),
  config: Type.Boolean({
    description: "Whether the provider may run tools by itself, such as a web search. Default: true.",
  }),
  flag: {
    name: "--no-server-tools",
    help: "providers may not search, fetch or run code for it",
    read: () => false,
  },
  label: "Tools that run at the provider",
  absent: true,
  narrows: (own, maker) => (maker || own === false ? undefined : "serverTools must be false"),
  words: (permitted) => (permitted ? undefined : "no tools that run at the provider"),
});

export const KEY_OPTIONS: readonly KeyOption[] = [serverTools];
