/** Fields that LiteLLM adds to requests that do not say otherwise: `models` of weir. */
import type { Draft } from "../draft.ts";
import type { SourceNode } from "../source.ts";

type Setting = readonly [option: string, read: (node: SourceNode) => unknown];

const within = (least: number, most: number) => (node: SourceNode) =>
  node.number !== undefined && node.number >= least && node.number <= most ? node.number : undefined;

const tokens = (node: SourceNode) =>
  node.number !== undefined && node.number >= 1 ? Math.round(node.number) : undefined;

const EFFORTS = new Set(["minimal", "low", "medium", "high", "xhigh"]);
const effort = (node: SourceNode) => (EFFORTS.has(node.text ?? "") ? node.text : undefined);

const SETTINGS: Readonly<Record<string, Setting>> = {
  temperature: ["temperature", within(0, 2)],
  top_p: ["topP", within(0, 1)],
  max_tokens: ["maxTokens", tokens],
  max_completion_tokens: ["maxTokens", tokens],
  reasoning_effort: ["reasoningEffort", effort],
};

/**
 * @param name that clients ask for
 * @param isShared other deployments have the name too, and may have other values
 */
export function readRequestSettings(draft: Draft, name: string, params: SourceNode, isShared: boolean): void {
  for (const [field, [option, read]] of Object.entries(SETTINGS)) {
    const node = params.member(field);
    const value = node && read(node);
    if (!node || value === undefined) continue;
    if (isShared)
      node.dropped(
        "weir sets options by name, and several deployments have this one",
        "models, for all of them",
      );
    else {
      draft.set(["models", name, "set", option], value, node);
      node.taken("models");
    }
  }
}
