/** `llms.txt`: what there is to read about weir, one line a document. The structure is that of https://llmstxt.org. */
import type { Document } from "./library.ts";
import { headingsOf, summaryOf } from "./markdown.ts";

/** Path of the text with all documents. */
export const FULL_PATH = "/llms-full.txt";

/** Each document is in the first section that its path fits. Readers with little room leave out "Optional". */
const SECTIONS: readonly { title: string; holds: RegExp }[] = [
  {
    title: "Use weir",
    holds: /^(README\.md|plugins\/|src\/(admin|cli|config|features\/[a-z-]+|formats|gateway)\/README)/,
  },
  { title: "Optional", holds: /^(test\/|\.github\/)/ },
  { title: "How weir works", holds: /./ },
];

/** @param documents README.md first */
export function indexText(documents: readonly Document[]): string {
  const sections = Map.groupBy(
    documents,
    ({ path }) => SECTIONS.find(({ holds }) => holds.test(path))!.title,
  );
  const lists = ["Use weir", "How weir works", "Optional"].map((title) =>
    [`## ${title}`, "", ...(sections.get(title) ?? []).map(lineOf)].join("\n"),
  );
  return [`# weir`, `> ${summaryOf(documents[0]!.text)}`, API, ...lists].join("\n\n") + "\n";
}

const API = [
  "## API",
  "",
  "- [OpenAPI document](/openapi.json): every operation with its schemas and error codes",
  `- [All documents in one](${FULL_PATH}): the text of every document below`,
].join("\n");

function lineOf({ path, text }: Document): string {
  const [title = path] = headingsOf(text, 1);
  const parts = headingsOf(text, 2).map((heading) => heading.replaceAll("`", ""));
  return `- [${title}](${FULL_PATH}#${path})${parts.length > 0 ? `: ${parts.join("; ")}` : ""}`;
}
