/** The documents of the repository: README.md, and all that its links lead to. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { LINK, proseOf } from "./markdown.ts";

export interface Document {
  /** Relative to the root of the repository: `src/cli/README.md`. */
  path: string;
  text: string;
}

/** In the order in which a reader who follows the links meets them. @param root folder of the repository */
export function readLibrary(root: string): Document[] {
  const found = new Set(["README.md"]);
  const documents: Document[] = [];
  for (const path of found) {
    const text = readFileSync(join(root, path), "utf8");
    documents.push({ path, text });
    for (const [, , target] of proseOf(text).matchAll(LINK)) {
      const { file } = aimOf(path, target!);
      if (file.endsWith(".md") && existsSync(join(root, file))) found.add(file);
    }
  }
  return documents;
}

/** Where a link leads. @returns the file relative to the root of the repository, and the anchor, which may be empty */
export function aimOf(path: string, target: string): { file: string; anchor: string } {
  const [file = "", anchor = ""] = target.split("#");
  return { file: file === "" ? path : normalize(join(dirname(path), file)), anchor };
}
