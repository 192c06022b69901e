/** `include`: configs that LiteLLM adds to one. https://docs.litellm.ai/docs/proxy/config_management */
import { isObject } from "../../../core/json.ts";
import type { Path } from "../../../core/path.ts";
import type { SourceDocument } from "../source.ts";

/** Reads a file that a config includes. @returns undefined if it cannot be read */
export type ReadIncluded = (name: string) => SourceDocument | undefined;

/** The entries of a list, or the value, of a member at the top. */
interface Part {
  document: SourceDocument;
  /** Index of the first entry in the list of all files. */
  first: number;
}

/** One document of a config and of all that it includes: lists are joined, other members replaced, as LiteLLM does. */
export function withIncludes(document: SourceDocument, read: ReadIncluded): SourceDocument {
  if (!isObject(document.value) || !("include" in document.value)) return document;
  const merged: Record<string, unknown> = {};
  const parts = new Map<string, Part[]>();
  const notes: string[] = [];
  const missing: string[] = [];
  const waiting = [document];
  const seen = new Set<string>();
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    notes.push(...(next.notes ?? []));
    for (const [name, value] of Object.entries(isObject(next.value) ? next.value : {}))
      add(name, value, next, { merged, parts, notes });
    for (const file of includedIn(next)) {
      if (seen.has(file)) continue;
      seen.add(file);
      const found = read(file);
      if (found) waiting.push(found);
      else missing.push(file);
    }
  }
  const locate = ([name, index, ...rest]: Path) => {
    const own = parts.get(String(name)) ?? [];
    const place = typeof index === "number" ? index : 0;
    const part = own.findLast(({ first }) => first <= place) ?? { document, first: 0 };
    const inner = typeof index === "number" ? index - part.first : index;
    return part.document.locate(
      name === undefined ? [] : inner === undefined ? [name] : [name, inner, ...rest],
    );
  };
  return { name: document.name, value: merged, locate, notes, missing };
}

function add(
  name: string,
  value: unknown,
  document: SourceDocument,
  { merged, parts, notes }: { merged: Record<string, unknown>; parts: Map<string, Part[]>; notes: string[] },
): void {
  const known = merged[name];
  if (Array.isArray(known) && Array.isArray(value)) {
    merged[name] = [...known, ...(value as unknown[])];
    parts.get(name)!.push({ document, first: known.length });
    return;
  }
  if (known !== undefined)
    notes.push(
      `${document.locate([name])}: ${name} replaces that of ${parts.get(name)!.at(-1)!.document.name}`,
    );
  merged[name] = value;
  parts.set(name, [{ document, first: 0 }]);
}

function includedIn({ value }: SourceDocument): string[] {
  const list = isObject(value) ? value["include"] : undefined;
  return Array.isArray(list) ? list.filter((file) => typeof file === "string") : [];
}
