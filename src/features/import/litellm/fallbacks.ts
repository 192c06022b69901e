/** The lists of fallbacks and aliases, in `router_settings` or `litellm_settings`. */
import { modelName } from "../draft.ts";
import type { Reading } from "../reader.ts";
import type { SourceNode } from "../source.ts";

interface FallbackTarget {
  model: string;
  when?: "too-long";
}

/** @param sections in order of precedence @returns the longest list, so that weir may try all of it */
export function readFallbacks(reading: Reading, sections: readonly SourceNode[]): number {
  const lists = new Map<string, FallbackTarget[]>();
  const find = (name: string) =>
    sections.map((section) => section.member(name)).filter((node) => node !== undefined);
  for (const section of find("fallbacks")) readLists(reading, section, lists);
  for (const section of find("context_window_fallbacks")) readLists(reading, section, lists, "too-long");
  for (const section of find("default_fallbacks")) readDefaults(reading, section, lists);
  for (const section of find("content_policy_fallbacks"))
    section.dropped(
      "weir does not repeat a call whose answer a filter has stopped",
      "a plugin with an `answer` hook can ask another model",
    );
  const aliases = Object.entries((reading.draft.get("aliases") ?? {}) as Record<string, string>);
  // weir looks for the fallbacks of the name that the client sends, and of the model at the end of all aliases.
  for (const [alias, name] of aliases)
    if (lists.has(name) && !lists.has(alias))
      lists.set(
        alias,
        lists.get(name)!.filter(({ model }) => model !== alias),
      );
  for (const [name, targets] of lists) reading.draft.set(["fallbacks", name], targets.map(written));
  return Math.max(0, ...[...lists.values()].map((targets) => targets.length));
}

/** `[{NAME: [MODEL, …]}]` */
function readLists(
  reading: Reading,
  section: SourceNode,
  lists: Map<string, FallbackTarget[]>,
  when?: "too-long",
): void {
  for (const { entries } of section.items)
    for (const entry of entries) {
      const name = entry.name === "*" ? "*" : modelName(entry.name);
      readTargets(reading, entry, name, lists, when);
    }
}

function readDefaults(reading: Reading, section: SourceNode, lists: Map<string, FallbackTarget[]>): void {
  readTargets(reading, section, "*", lists);
}

function readTargets(
  { draft }: Reading,
  list: SourceNode,
  name: string,
  lists: Map<string, FallbackTarget[]>,
  when?: "too-long",
): void {
  for (const item of list.items) {
    const model = item.text ?? item.member("model")?.text;
    if (model === undefined) {
      item.dropped("the entry names no model");
      continue;
    }
    if (modelName(model) === name) {
      item.dropped("a model cannot be its own fallback");
      continue;
    }
    if (!draft.isServed(modelName(model))) {
      item.dropped("no entry of model_list has this name", "add the model to fallbacks as provider/model");
      continue;
    }
    const known = lists.get(name) ?? [];
    lists.set(name, [...known, { model: modelName(model), ...(when && { when }) }]);
    if (item.text !== undefined) item.taken("fallbacks");
    else {
      item.member("model")?.taken("fallbacks");
      item.dropped("weir sends the request of the client to a fallback as it is");
    }
  }
}

function written({ model, when }: FallbackTarget): string | FallbackTarget {
  return when === undefined ? model : { model, when };
}

/** `model_group_alias`: `{ALIAS: NAME}` or `{ALIAS: {model: NAME, hidden: true}}`. */
export function readAliases({ draft }: Reading, section: SourceNode | undefined): void {
  for (const entry of section?.entries ?? []) {
    const target = entry.text ?? entry.member("model")?.text;
    if (target === undefined) continue;
    const node = entry.text === undefined ? entry.member("model")! : entry;
    if (!draft.isServed(modelName(target))) {
      node.dropped("no entry of model_list has this name", "add the alias with provider/model");
      continue;
    }
    if (modelName(entry.name) !== modelName(target))
      draft.set(["aliases", modelName(entry.name)], modelName(target), entry);
    node.taken("aliases");
    entry.member("hidden")?.dropped("GET /v1/models of weir lists every alias");
  }
}
