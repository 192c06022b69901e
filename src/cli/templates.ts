/** The plugin templates of `weir plugin new`. They are written for the name `acme`, which is replaced with the user's. */
import { variableName } from "../core/settings.ts";
import format from "./templates/format.txt" with { type: "text" };
import hook from "./templates/hook.txt" with { type: "text" };
import host from "./templates/host.txt" with { type: "text" };
import program from "./templates/program.txt" with { type: "text" };

/** Template of each plugin kind, and the user's next step. */
const TEMPLATES = {
  host: { text: host, next: "Set its base URL and API key, then start weir." },
  format: {
    text: format,
    next: "Adapt the format to your host, set its base URL and API key, then start weir.",
  },
  program: { text: program, next: "Start weir; the plugin answers with the user's last message." },
  hook: { text: hook, next: "Start weir; the plugin writes one line per call to standard error." },
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
