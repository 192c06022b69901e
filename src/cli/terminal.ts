/** Tables and colours for the output of commands. */

/** Columns aligned by their widest cell; the last column is not padded. */
export function table(rows: readonly (readonly string[])[], indent = ""): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, Bun.stringWidth(cell))));
  const line = (row: readonly string[]) =>
    indent +
    row
      .map((cell, at) =>
        at === row.length - 1 ? cell : cell + " ".repeat(widths[at]! - Bun.stringWidth(cell)),
      )
      .join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}

type Colour = "red" | "green" | "yellow" | "dim";

const CODES: Record<Colour, string> = { red: "31", green: "32", yellow: "33", dim: "2" };

/** Adds colour where the output shows it. */
export function paint(colour: Colour, text: string): string {
  return hasColour(process.env, process.stdout.isTTY) ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
}

/**
 * Whether to write colours: `NO_COLOR` forbids them (no-color.org), `FORCE_COLOR` and `CLICOLOR_FORCE` demand them, otherwise
 * a terminal that is not `dumb` shows them.
 */
export function hasColour(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  if (env["NO_COLOR"]) return false;
  const forced = env["FORCE_COLOR"] ?? env["CLICOLOR_FORCE"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  return isTerminal && env["TERM"] !== "dumb";
}

/** Breaks the last column of a table at words, so that no line is longer than the width, in characters. */
export function wrappedTable(rows: readonly (readonly string[])[], width: number, indent = ""): string {
  const lead = Math.max(...rows.map((row) => leadOf(row, rows).length)) + indent.length;
  const room = Math.max(20, width - lead);
  const broken = rows.flatMap((row) =>
    wrap(row.at(-1) ?? "", room).map((line, at) =>
      at === 0 ? [...row.slice(0, -1), line] : [...row.slice(0, -1).map(() => ""), line],
    ),
  );
  return table(broken, indent);
}

/** Spaces as wide as all columns before the last one. */
function leadOf(row: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = row.slice(0, -1);
  return columns
    .map((_, at) => " ".repeat(Math.max(...rows.map((one) => one[at]?.length ?? 0)) + 2))
    .join("");
}

/** The lines of a text, broken at words. A longer word has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
