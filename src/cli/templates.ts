/** What `weir plugin new` writes: plugins named `acme`, to which the user's name is given. */
import { variableName } from "../core/settings.ts";
import format from "./templates/format.txt" with { type: "text" };
import hook from "./templates/hook.txt" with { type: "text" };
import host from "./templates/host.txt" with { type: "text" };
import program from "./templates/program.txt" with { type: "text" };

/** Sizes of plugins, each with its text and what the user does next. */
const TEMPLATES = {
  host: { text: host, next: "Set its address and its key, and start weir." },
  format: {
    text: format,
    next: "Write down what your host speaks, set its address and its key, and start weir.",
  },
  program: { text: program, next: "Start weir; it answers with what it is told." },
  hook: { text: hook, next: "Start weir; each call is a line on standard error." },
} as const;

export type Kind = keyof typeof TEMPLATES;

export const KINDS = Object.keys(TEMPLATES) as Kind[];

/** @param name lower-case letters, digits and dashes @returns the text of the plugin and a sentence for the user */
export function writeTemplate(kind: Kind, name: string): { text: string; next: string } {
  const { text, next } = TEMPLATES[kind];
  const named = text
    .replaceAll("ACME_API_KEY", variableName(name, "API_KEY"))
    .replaceAll("ACME_BASE_URL", variableName(name, "BASE_URL"))
    .replaceAll("acme", name);
  return { text: named, next };
}
