/** Validity of scopes, and whether a key may have only what another one has. */
import { globMatches } from "../../core/glob.ts";
import { type ModelSets, patternsOf, setNamed } from "../../core/model-sets.ts";
import { formatNano, MAX_NANO } from "../money.ts";
import type { Scopes } from "../policy.ts";
import type { KeyOption } from "./option.ts";
import { KEY_OPTIONS } from "./options.ts";
import { blockContains, parseBlock } from "./addresses.ts";

/** A fault of a member of a key: `scopes.models must …`. */
export interface KeyFault {
  member: string;
  clause: string;
}

/** Whether all names that `inner` matches are also matched by `outer`: a `*` of `inner` can only be matched by a `*`. */
export function globContains(outer: string, inner: string): boolean {
  return globMatches(outer, inner);
}

/** As {@link globContains}. A set may grow, so that only the set itself, or every model, contains it. */
function modelsContain(outer: string, inner: string, sets: ModelSets): boolean {
  if (setNamed(inner) !== undefined) return outer === inner || outer.replaceAll("*", "") === "";
  return patternsOf(outer, sets)?.some((pattern) => globContains(pattern, inner)) === true;
}

const MODEL_GLOB = /^[\w.:/@+*-]{1,200}$/;
const WORD = /^[a-z][a-z0-9-]*$/;

/** A list of a scope: what is wrong with an entry, and whether an entry permits all that another one permits. */
interface ListRule {
  /** The form of an entry. */
  expects: string;
  isValid(entry: string): boolean;
  contains(outer: string, inner: string, sets: ModelSets): boolean;
}

const isSame = (outer: string, inner: string) => outer === inner;

const LISTS: Readonly<Record<"models" | "providers" | "endpoints" | "addresses", ListRule>> = {
  models: {
    expects: "model names, in which * stands for any text, and sets such as @cheap",
    isValid: (entry) => MODEL_GLOB.test(entry),
    contains: modelsContain,
  },
  providers: { expects: "names of providers", isValid: (entry) => WORD.test(entry), contains: isSame },
  endpoints: {
    expects: "names of endpoints",
    isValid: (entry) => WORD.test(entry),
    contains: coversEndpoint,
  },
  addresses: {
    expects: "addresses or blocks such as 10.0.0.0/8",
    isValid: (entry) => parseBlock(entry) !== undefined,
    contains: (outer, inner) => blockContains(parseBlock(outer)!, parseBlock(inner)!),
  },
};
const LIST_NAMES = Object.keys(LISTS) as (keyof typeof LISTS)[];
const NUMBER_NAMES = ["maxTokens", "maxCost"] as const satisfies readonly (keyof Scopes)[];

/** Whether an entry of `endpoints` permits an endpoint. A name also stands for ids that continue it with a dash. */
export function coversEndpoint(entry: string, endpoint: string): boolean {
  return endpoint === entry || endpoint.startsWith(`${entry}-`);
}

/** The first fault of scopes; undefined when there is none. */
export function scopesFault(scopes: Scopes): KeyFault | undefined {
  for (const name of LIST_NAMES) {
    const { expects, isValid } = LISTS[name];
    const entries = scopes[name];
    if (entries === undefined) continue;
    // An empty list would look like no restriction.
    if (entries.length === 0) return { member: name, clause: `${name} is empty; leave it out to permit all` };
    const wrong = entries.find((entry) => !isValid(entry));
    if (wrong !== undefined)
      return {
        member: name,
        clause: `${name} must contain ${expects}, but contains ${JSON.stringify(wrong)}`,
      };
  }
  const { maxTokens, maxCost } = scopes;
  if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && maxTokens > 0))
    return { member: "maxTokens", clause: "maxTokens must be a positive integer" };
  if (maxCost !== undefined && !(Number.isSafeInteger(maxCost) && maxCost >= 0 && maxCost <= MAX_NANO))
    return { member: "maxCost", clause: "maxCost must be an amount between 0 and 9000000 dollars" };
  return undefined;
}

/** The scopes of a new key: what it does not restrict itself, it has from its maker. */
export function inheritScopes(own: Scopes, maker: Scopes): Scopes {
  return { ...maker, ...own };
}

/** The first restriction that weir with these options of keys does not know, and so could not enforce. */
export function unknownIn(scopes: Scopes, options: readonly KeyOption[]): string | undefined {
  const known = new Set<string>([...LIST_NAMES, ...NUMBER_NAMES, ...options.map(({ name }) => name)]);
  return Object.keys(scopes).find((name) => !known.has(name));
}

/** Why weir refuses the calls of a key. @param option that {@link unknownIn} has found */
export function unenforcedSentence(name: string, option: string): string {
  return `the key ${name} has the restriction ${option}, which this build of weir does not know: weir refuses its calls; start a build with the feature that has it, or revoke the key`;
}

/** The permission that scopes have beyond those of the maker; undefined when it is nothing. Both must be valid. @param known sets of the config, and options of keys */
export function excessOf(
  scopes: Scopes,
  maker: Scopes,
  {
    sets = {},
    options = KEY_OPTIONS,
  }: { sets?: ModelSets | undefined; options?: readonly KeyOption[] | undefined } = {},
): KeyFault | undefined {
  const unknown = unknownIn(maker, options);
  if (unknown !== undefined)
    return beyond(
      unknown,
      `${unknown} restricts the key that makes it, and this build of weir does not know it`,
    );
  for (const name of LIST_NAMES) {
    const permitted = maker[name];
    if (permitted === undefined) continue;
    const { contains } = LISTS[name];
    const entries = scopes[name];
    if (entries === undefined) return beyond(name, `${name} must be restricted to ${permitted.join(", ")}`);
    const outside = entries.find((entry) => !permitted.some((outer) => contains(outer, entry, sets)));
    if (outside !== undefined)
      return beyond(name, `${name} must be within ${permitted.join(", ")}, but contains ${outside}`);
  }
  if (exceeds(scopes.maxTokens, maker.maxTokens))
    return beyond("maxTokens", `maxTokens must be at most ${maker.maxTokens}`);
  if (exceeds(scopes.maxCost, maker.maxCost))
    return beyond("maxCost", `maxCost must be at most ${formatNano(maker.maxCost!)}`);
  for (const option of options) {
    const clause = option.excess(scopes, maker);
    if (clause !== undefined) return beyond(option.name, clause);
  }
  return undefined;
}

function exceeds(own: number | undefined, limit: number | undefined): boolean {
  return limit !== undefined && (own === undefined || own > limit);
}

function beyond(member: string, clause: string): KeyFault {
  return { member, clause: `${clause}: a key cannot permit more than the key that makes it` };
}
