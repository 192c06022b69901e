/** What the tests promise, as a table of the README. */
import { POWER } from "./power.ts";

export const QUESTION_WORDS: Readonly<Record<number, string>> = { 11: "eleven", 12: "twelve" };

export function tableOf(): string {
  const rows = POWER.map(({ name, kinds, looks }) => [
    ...[name, kinds.map((kind) => `\`${kind}\``).join(" or "), looks.toLocaleString("en-US")],
    looks < 24 ? `${looks} hours` : `${(looks / 24).toFixed(1)} days`,
  ]);
  const lines = [["change", "kind", "looks", "hourly looks take"], ["---", "---", "---", "---"], ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
