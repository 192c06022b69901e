/** Settings of a source that are independent of each other, as a table from their names to what weir does with them. */
import type { Reading } from "./reader.ts";
import type { SourceNode } from "./source.ts";

/** The result for one setting. */
export type SettingRule = (node: SourceNode, reading: Reading) => void;
export type Rules = Readonly<Record<string, SettingRule>>;

/** Applies the rules to the members of a section; members without a rule stay without a fate. */
export function applyRules(section: SourceNode | undefined, rules: Rules, reading: Reading): void {
  for (const node of section?.members ?? [])
    if (Object.hasOwn(rules, node.name)) rules[node.name]!(node, reading);
}

/**
 * The value, converted, is an option of weir.
 * @param convert undefined if the value is not understood @param why what differs, if it does not mean the same
 */
export function option(path: string, convert: (node: SourceNode) => unknown, why?: string): SettingRule {
  return (node, { draft }) => {
    const value = convert(node);
    if (value === undefined) {
      node.dropped("the import does not understand the value", `set ${path}`);
      return;
    }
    draft.set(path, value, node);
    if (why === undefined) node.taken(path);
    else node.changed(why, path);
  };
}

/** weir has nothing like it. */
export function none(why: string, instead?: string): SettingRule {
  return (node) => node.dropped(why, instead);
}

/** weir always does something like it, or does it in another way, without an option. */
export function always(why: string): SettingRule {
  return (node) => node.changed(why);
}

/** A switch: what `true` and `false` mean for weir. */
export function flag(on: SettingRule, off: SettingRule): SettingRule {
  return (node, reading) => (node.value === true ? on : off)(node, reading);
}

export const seconds = (node: SourceNode): number | undefined =>
  node.number === undefined || node.number <= 0
    ? undefined
    : Math.min(86_400_000, Math.max(1, Math.round(node.number * 1000)));

/** A whole number of at least one. */
export const count = (node: SourceNode): number | undefined =>
  node.number === undefined || node.number < 1 ? undefined : Math.round(node.number);

export const megabytes = (node: SourceNode): number | undefined =>
  node.number === undefined
    ? undefined
    : Math.min(1_073_741_824, Math.max(1024, Math.round(node.number * 1_048_576)));
