/** The little of Markdown that is needed to list documents and to put them into one. */

/** A fenced block, with its fences. */
const FENCED = /^```.*?^```$/gms;

/** Changes a document outside of its fenced blocks. */
export function mapProse(text: string, change: (prose: string) => string): string {
  const blocks = text.match(FENCED) ?? [];
  return text
    .split(FENCED)
    .map((prose, at) => change(prose) + (blocks[at] ?? ""))
    .join("");
}

/** The document without its fenced blocks. */
export function proseOf(text: string): string {
  return text.replace(FENCED, "");
}

/** Headings of a level, in order. */
export function headingsOf(text: string, level: number): string[] {
  return [...proseOf(text).matchAll(HEADING)].flatMap(([, marks, title]) =>
    marks!.length === level ? [title!] : [],
  );
}

/** A heading: its marks, and its text. */
export const HEADING = /^(#+) (.+)$/gm;

/** A link: its label, and its target. */
export const LINK = /\[([^\]]+)\]\(([^)\s]+)\)/g;

/** The anchor of a heading, as the hosts of repositories make it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** The first paragraph behind the title, on one line. */
export function summaryOf(text: string): string {
  const [, second = ""] = text.split(/\n\n+/);
  return second.replace(/\s+/g, " ").trim();
}

/** Without the spaces that align the columns of tables, which are half of some documents, and without comments. */
export function compact(prose: string): string {
  return prose
    .replace(/<!--.*?-->\n*/gs, "")
    .replace(/^\|.*\|$/gm, (row) => row.replace(/ {2,}/g, " ").replace(/-{4,}/g, "---"));
}
