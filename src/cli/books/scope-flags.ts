/** The flags of what a key may do. */
import type { Scopes } from "../../ledger/policy.ts";
import type { KeyOption } from "../../ledger/keys/option.ts";
import { type Context, type Flag, UsageError } from "../command.ts";
import { countOf, listOf, readAmount, textOf } from "./values.ts";

/** @param options of keys in this build */
export const scopeFlags = (options: readonly KeyOption[]): readonly Flag[] => [
  {
    name: "--models",
    value: "PATTERNS",
    help: "models that it may use: 'gpt-*,claude-*', or a set: @cheap",
    repeats: true,
  },
  { name: "--providers", value: "NAMES", help: "providers that its calls may go to", repeats: true },
  {
    name: "--endpoints",
    value: "NAMES",
    help: "chat, messages, responses, embeddings, count, models, explain",
    repeats: true,
  },
  { name: "--addresses", value: "CIDRS", help: "addresses of clients: 10.0.0.0/8", repeats: true },
  { name: "--max-tokens", value: "N", help: "most output tokens of one call" },
  { name: "--max-cost", value: "DOLLARS", help: "most that one call may cost" },
  ...options.map(({ flag: { name, value, help } }) => ({
    name,
    help,
    ...(value !== undefined && { value }),
  })),
];

export const TAG_FLAG: Flag = {
  name: "--tag",
  value: "TAGS",
  help: "tags, which budgets and reports can name: --tag a --tag b, or a,b",
  repeats: true,
};

/** @returns undefined without any of the flags @throws UsageError */
export function scopesOf(flags: Context["flags"], options: readonly KeyOption[]): Scopes | undefined {
  const maxCost = textOf(flags, "--max-cost");
  const scopes: Scopes = {
    models: listOf(flags, "--models"),
    providers: listOf(flags, "--providers"),
    endpoints: listOf(flags, "--endpoints"),
    addresses: listOf(flags, "--addresses"),
    maxTokens: countOf(flags, "--max-tokens"),
    maxCost: maxCost === undefined ? undefined : readAmount(maxCost, "--max-cost"),
    ...Object.fromEntries(options.map((option) => [option.name, optionOf(flags, option)])),
  };
  const given = Object.entries(scopes).filter(([, scope]) => scope !== undefined);
  return given.length === 0 ? undefined : (Object.fromEntries(given) as Scopes);
}

/** @throws UsageError for a value that the option cannot read */
function optionOf(flags: Context["flags"], option: KeyOption): unknown {
  const given = flags[option.flag.name];
  if (given === undefined) return undefined;
  try {
    return option.read(given === true ? "" : given);
  } catch (fault) {
    throw new UsageError(`${option.flag.name} ${(fault as Error).message}`);
  }
}
