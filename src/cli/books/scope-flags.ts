/** The flags of what a key may do. */
import type { Scopes } from "../../ledger/policy.ts";
import type { Context, Flag } from "../command.ts";
import { countOf, listOf, readAmount, textOf } from "./values.ts";

export const SCOPE_FLAGS: readonly Flag[] = [
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
  { name: "--no-server-tools", help: "providers may not search, fetch or run code for it" },
];

export const TAG_FLAG: Flag = {
  name: "--tag",
  value: "TAGS",
  help: "tags, which budgets and reports can name: --tag a --tag b, or a,b",
  repeats: true,
};

/** @returns undefined without any of the flags @throws UsageError */
export function scopesOf(flags: Context["flags"]): Scopes | undefined {
  const maxCost = textOf(flags, "--max-cost");
  const scopes: Record<keyof Scopes, unknown> = {
    models: listOf(flags, "--models"),
    providers: listOf(flags, "--providers"),
    endpoints: listOf(flags, "--endpoints"),
    addresses: listOf(flags, "--addresses"),
    maxTokens: countOf(flags, "--max-tokens"),
    maxCost: maxCost === undefined ? undefined : readAmount(maxCost, "--max-cost"),
    serverTools: flags["--no-server-tools"] ? false : undefined,
  };
  const given = Object.entries(scopes).filter(([, scope]) => scope !== undefined);
  return given.length === 0 ? undefined : (Object.fromEntries(given) as Scopes);
}
