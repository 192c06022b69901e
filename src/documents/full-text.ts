/** `llms-full.txt`: the text of all documents in one, with links that lead to places in it. */
import { aimOf, type Document } from "./library.ts";
import { anchorOf, compact, HEADING, LINK, mapProse, proseOf } from "./markdown.ts";

export function fullText(documents: readonly Document[]): string {
  const places = linkedPlaces(documents);
  return documents.map((document) => partOf(document, places)).join("\n");
}

/** The name of a place in the text: `src/cli/README.md`, or `src/cli/README.md:deploy` for a heading. */
function placeOf(path: string, anchor: string): string {
  return anchor === "" ? path : `${path}:${anchor}`;
}

/** Each document, and the headings that links lead to. */
function linkedPlaces(documents: readonly Document[]): Set<string> {
  const targets = documents.flatMap(({ path, text }) =>
    [...proseOf(text).matchAll(LINK)].map(([, , target]) => aimOf(path, target!)),
  );
  return new Set([
    ...documents.map(({ path }) => path),
    ...targets.map(({ file, anchor }) => placeOf(file, anchor)),
  ]);
}

function partOf({ path, text }: Document, places: ReadonlySet<string>): string {
  const prose = (part: string) =>
    compact(part)
      .replace(HEADING, (line, marks: string, title: string) => {
        const place = placeOf(path, marks === "#" ? "" : anchorOf(title));
        return places.has(place) ? `<a id="${place}"></a>\n\n${line}` : line;
      })
      .replace(LINK, (whole, label: string, target: string) => linkOf(path, label, target, whole, places));
  return mapProse(text, prose);
}

/** The link within the text. Files that are not in it are named only. */
function linkOf(
  path: string,
  label: string,
  target: string,
  whole: string,
  places: ReadonlySet<string>,
): string {
  if (/^https?:/.test(target)) return whole;
  const { file, anchor } = aimOf(path, target);
  if (file.endsWith(".md") && places.has(file)) return `[${label}](#${placeOf(file, anchor)})`;
  return label.endsWith(file.slice(file.lastIndexOf("/") + 1)) ? `\`${file}\`` : `${label} (\`${file}\`)`;
}
