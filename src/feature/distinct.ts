/** Refuses features that claim the same name, and features without those that they need. */
import type { Feature } from "./feature.ts";

/** Names that belong to one feature each, by their kind. */
const KINDS: Readonly<Record<string, (feature: Feature) => readonly string[]>> = {
  section: ({ section }) => (section ? [section.name] : []),
  column: ({ columns = [] }) => columns.map(({ name }) => name),
  "key option": ({ keyOptions = [] }) => keyOptions.map(({ name }) => name),
  flag: ({ keyOptions = [] }) => keyOptions.map(({ flag }) => flag.name),
  "flag of a command": ({ flags = [] }) => flags.map(({ of, name }) => `weir ${of} ${name}`),
  metric: ({ metrics = [] }) => metrics.map(({ name }) => name),
  header: ({ headers = [] }) => headers.map(({ name }) => name),
  reference: ({ references }) => references?.kinds ?? [],
  command: ({ commands = [] }) => commands.map(({ name }) => name),
};

/**
 * @param own names that weir has without features, by their kind
 * @throws Error with a sentence that names both owners
 */
export function assertDistinct(
  features: readonly Feature[],
  own: Readonly<Record<string, readonly string[]>> = {},
): void {
  assertNames(features);
  for (const [kind, namesOf] of Object.entries(KINDS)) {
    const owners = new Map((own[kind] ?? []).map((name) => [name, CORE]));
    for (const feature of features)
      for (const name of namesOf(feature)) {
        const owner = owners.get(name);
        if (owner !== undefined) throw new Error(sentence(kind, name, owner, feature.name));
        owners.set(name, feature.name);
      }
  }
}

/** The owner of the names that weir has without features. */
const CORE = "";

/** Checks the names of the features, and that the list has all that they need. */
function assertNames(features: readonly Feature[]): void {
  const names = features.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`two features have the name ${twice}`);
  for (const { name, needs = [] } of features)
    for (const needed of needs)
      if (!names.includes(needed))
        throw new Error(`the feature ${name} needs the feature ${needed}, which is not in this build`);
}

function sentence(kind: string, name: string, one: string, other: string): string {
  if (one === CORE) return `the feature ${other} declares the ${kind} ${name}, which weir has without it`;
  if (one === other) return `the feature ${one} declares the ${kind} ${name} twice`;
  return `the features ${one} and ${other} both declare the ${kind} ${name}`;
}
