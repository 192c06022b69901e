/** Writes `weir.yaml` as a person would: a comment above each block says where it came from and what was left out. */
import { Document, isMap, isScalar, isSeq, type Node, type Pair, visit } from "yaml";
import { collapse, type SettingOutcome } from "./source.ts";

export interface Writing {
  options: Record<string, unknown>;
  /** Paths in the source by path of a block in `weir.yaml`: `providers.azure`, `retries`. */
  origins: ReadonlyMap<string, readonly string[]>;
  outcomes: readonly SettingOutcome[];
  remarks: readonly string[];
  /** `weir import litellm config.yaml`. */
  command: string;
}

const WIDTH = 100;
/** Most sources that a comment names. */
const MOST_NAMED = 4;

export function writeYaml({ options, origins, outcomes, remarks, command }: Writing): string {
  const document = new Document(options, { aliasDuplicateObjects: false });
  const left = collapse(outcomes.filter(({ fate }) => fate !== "taken"));
  const told = new Set<SettingOutcome>();
  for (const [block, from] of origins) {
    const pair = pairAt(document, block);
    if (!pair || !isScalar(pair.key)) continue;
    const own = left.filter(
      (outcome) => !told.has(outcome) && from.some((path) => isBelow(outcome.path, path)),
    );
    for (const outcome of own) told.add(outcome);
    const lines = [`From ${listed(from)}.`, ...own.map((outcome) => noteOf(outcome, from))];
    pair.key.commentBefore = lines.flatMap(wrap).join("\n");
  }
  separateSections(document);
  compact(document);
  const rest = left.filter((outcome) => !told.has(outcome));
  const head = [
    `Written by: ${command}`,
    "Check it with `weir check`, and start it with `weir`.",
    ...remarks.map((remark) => `Note: ${remark}.`),
  ];
  const end = rest.length === 0 ? [] : ["Not in this file:", ...rest.map((outcome) => noteOf(outcome))];
  const body = Object.keys(options).length === 0 ? "" : withoutPadding(document.toString({ lineWidth: 0 }));
  return [comment(head), body.trimEnd(), comment(end)].filter(Boolean).join("\n\n") + "\n";
}

/** `[a, b]` for `[ a, b ]`, as people write lists, and as formatters do. */
function withoutPadding(yaml: string): string {
  return yaml.replace(/^( *[^#\s].*[:-] )\[ (.*) \]$/gm, "$1[$2]");
}

function noteOf(
  { fate, path, why = "", instead, value }: SettingOutcome,
  from: readonly string[] = [],
): string {
  const base = from.find((origin) => isBelow(path, origin) && origin !== path);
  const shown = base === undefined ? path : path.slice(base.length).replace(/^\./, "");
  const what = fate === "none" ? "Left out" : "Changed";
  return `${what}: ${shown} (${value}): ${why}${instead === undefined ? "" : `; ${instead}`}.`;
}

/** Whether a path is another one, or below it. */
export function isBelow(path: string, origin: string): boolean {
  return origin === "" || path === origin || path.startsWith(`${origin}.`) || path.startsWith(`${origin}[`);
}

function listed(from: readonly string[]): string {
  const named = [...new Set(from)].map((path) => path || "the whole file");
  const more = named.length - MOST_NAMED;
  return more > 1 ? `${named.slice(0, MOST_NAMED).join(", ")} and ${more} more` : named.join(", ");
}

function comment(lines: readonly string[]): string {
  return lines
    .flatMap(wrap)
    .map((line) => `#${line}`)
    .join("\n");
}

/** Lines of a comment, each with a leading space. */
function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line !== "" && line.length + word.length >= WIDTH) {
      lines.push(line);
      line = "  ";
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

function pairAt(document: Document, block: string): Pair | undefined {
  const [section = "", ...rest] = block.split(".");
  const steps = rest.length > 0 ? [section, rest.join(".")] : [section];
  let node: unknown = document.contents;
  let pair: Pair | undefined;
  for (const step of steps) {
    if (!isMap(node)) return undefined;
    pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
    node = pair?.value;
  }
  return pair;
}

/** An empty line above each section. */
function separateSections({ contents }: Document): void {
  if (!isMap(contents)) return;
  for (const { key } of contents.items.slice(1)) if (isScalar(key)) key.spaceBefore = true;
}

/** Writes lists of texts, and the entries of routes and fallbacks, in one line. */
function compact(document: Document): void {
  visit(document, {
    Seq(_, node) {
      if (node.items.every(isScalar) && lengthOf(node) < 80) node.flow = true;
      for (const item of node.items)
        if (isMap(item) && item.items.every(({ value }) => isScalar(value)) && lengthOf(item) < 80)
          item.flow = !item.items.some(({ key }) => isScalar(key) && key.value === "name");
    },
  });
}

function lengthOf(node: Node): number {
  if (!isMap(node) && !isSeq(node)) return 0;
  return JSON.stringify(node.toJSON()).length;
}
