/** `access_groups` of LiteLLM's models, which keys name in `models`: sets of models. https://docs.litellm.ai/docs/proxy/model_access_groups */
import type { Draft } from "../draft.ts";
import type { SourceNode } from "../source.ts";

/** @param served the name or pattern that clients ask for */
export function readAccessGroups({ draft }: { draft: Draft }, entry: SourceNode, served: string): void {
  const lists = [entry.member("model_info")?.member("access_groups"), entry.member("access_groups")];
  for (const node of lists.flatMap((list) => list?.items ?? [])) {
    if (!node.text) continue;
    const name = setName(node.text);
    const path = ["modelSets", name];
    const known = setsOf(draft)[name] ?? [];
    if (!known.includes(served)) draft.set(path, [...known, served], entry);
    if (name === node.text) node.taken("modelSets");
    else
      node.changed(
        `the name of a set has letters, digits, dots, dashes and underscores: ${name}`,
        "modelSets",
      );
  }
}

/** The entries of `models` of a key for a name of LiteLLM: a group, a model, or both. @param model the name as weir serves it */
export function modelsNamed(draft: Draft, text: string, model: string): string[] {
  const name = setName(text);
  if (!Object.hasOwn(setsOf(draft), name)) return [model];
  return draft.isServed(model) ? [model, `@${name}`] : [`@${name}`];
}

function setsOf(draft: Draft): Record<string, readonly string[]> {
  return (draft.get("modelSets") ?? {}) as Record<string, readonly string[]>;
}

function setName(text: string): string {
  return text.replace(/[^\w.-]+/g, "-").slice(0, 64);
}
