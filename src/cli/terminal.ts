/** Tables and colours for the output of commands. */

/** Columns aligned by their widest cell; the last column is not padded. */
export function table(rows: readonly (readonly string[])[], indent = ""): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  const line = (row: readonly string[]) =>
    indent + row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at]!))).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}

type Colour = "red" | "green" | "yellow" | "dim";

const CODES: Record<Colour, string> = { red: "31", green: "32", yellow: "33", dim: "2" };

/** Adds colour if standard output is a terminal and `NO_COLOR` is unset. */
export function paint(colour: Colour, text: string): string {
  if (!process.stdout.isTTY || process.env["NO_COLOR"]) return text;
  return `\u001b[${CODES[colour]}m${text}\u001b[0m`;
}
