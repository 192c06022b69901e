/** A key as the texts of its form, and the requests that make it so. */
import type { Budget, Key, KeyField, NewKey, Rate } from "../../data/types.ts";
import { readDollars } from "../../numbers/money.ts";
import { AMOUNT_FORM, amountWords, limitDollars, readAmount } from "./budget-words.ts";
import { nameFault, readCount, readEnd, readList, readOption } from "./key-words.ts";

/** Units that the form offers. A limit in another unit stays as it is. */
export const UNITS = [
  ["rpm", "Calls a minute"],
  ["tpm", "Tokens a minute"],
  ["concurrency", "Calls at once"],
] as const;

export type Field =
  "name" | "path" | "tags" | "models" | "maxCost" | "amount" | "ends" | (typeof UNITS)[number][0];

/** Texts by field; those of options by `option NAME`. */
export type Draft = Readonly<Record<Field, string> & { readonly [option: `option ${string}`]: string }>;

export const LABELS: Readonly<Record<Field, string>> = {
  name: "Name",
  path: "Path",
  tags: "Tags",
  models: "May use models",
  ...(Object.fromEntries(UNITS) as Record<(typeof UNITS)[number][0], string>),
  maxCost: "Most a call may cost",
  amount: "Budget",
  ends: "Ends",
};

/** A key with the limit and the budget of its own that the form can change. */
export interface Parts {
  key: Key;
  rate: Rate | undefined;
  budget: Budget | undefined;
}

export const emptyDraft = (path: string): Draft => ({
  ...{ name: "", path, tags: "", models: "", rpm: "", tpm: "", concurrency: "" },
  ...{ maxCost: "", amount: "", ends: "" },
});

export function draftOf({ key, rate, budget }: Parts, options: readonly KeyField[]): Draft {
  const { scopes, expiresAt } = key;
  const values = scopes as Readonly<Record<string, unknown>>;
  return {
    name: key.name,
    path: key.path,
    tags: key.tags.join(", "),
    models: scopes.models?.join(", ") ?? "",
    rpm: String(rate?.limits["rpm"] ?? ""),
    tpm: String(rate?.limits["tpm"] ?? ""),
    concurrency: String(rate?.limits["concurrency"] ?? ""),
    maxCost: scopes.maxCost === undefined ? "" : limitDollars(scopes.maxCost),
    amount: budget ? amountWords(budget) : "",
    ends: expiresAt === undefined ? "" : `${new Date(expiresAt).toISOString().slice(0, 16)}Z`,
    ...Object.fromEntries(options.map(({ name }) => [`option ${name}`, optionText(values[name])])),
  };
}

function optionText(value: unknown): string {
  if (Array.isArray(value)) return value.join(", ");
  return value === undefined ? "" : value === true ? "yes" : value === false ? "no" : String(value);
}

/**
 * Why fields cannot be sent. A field that is as it was is never at fault: an end may have passed.
 * @param now milliseconds since 1970
 */
export function faultsOf(draft: Draft, was: Draft, now: number): Partial<Record<Field, string>> {
  const fault = (field: Field, isWrong: boolean, words: string | undefined) =>
    draft[field] !== was[field] && draft[field].trim() !== "" && isWrong && words !== undefined
      ? { [field]: words }
      : {};
  return {
    ...fault("name", true, nameFault(draft.name)),
    ...fault("maxCost", readDollars(draft.maxCost) === undefined, "Write it like $0.50."),
    ...fault("amount", !readAmount(draft.amount), AMOUNT_FORM),
    ...fault("ends", !readEnd(draft.ends, now), "Write never, 30 d, or a date to come like 2027-03-31."),
    ...Object.assign({}, ...UNITS.map(([unit]) => fault(unit, !readCount(draft[unit]), "A whole number."))),
  };
}

/** The body that makes a key. Keys that make no calls have no limits. @param now milliseconds since 1970 */
export function newKeyOf(
  draft: Draft,
  kind: NonNullable<NewKey["kind"]>,
  options: readonly KeyField[],
  now: number,
): NewKey {
  const tags = readList(draft.tags);
  const budget = readAmount(draft.amount);
  const rates = ratesIn(draft, undefined);
  return {
    name: draft.name.trim(),
    kind,
    path: draft.path.trim() || "/",
    ...readEnd(draft.ends, now),
    ...(tags && { tags }),
    ...(kind === "call" && {
      scopes: scopesIn(draft, emptyDraft(""), {}, options),
      ...(budget && { budget }),
      ...(rates && { rates }),
    }),
  };
}

/** A request of the admin API; the answer has the version that the next change of the same thing needs. */
export interface Step {
  of: keyof Parts;
  method: "POST" | "PATCH" | "DELETE";
  to: string;
  body?: object;
  version?: string;
}

/** The requests that make a key what the form has; only of what was changed. @param now milliseconds since 1970 */
export function stepsOf(parts: Parts, draft: Draft, options: readonly KeyField[], now: number): Step[] {
  const was = draftOf(parts, options);
  const { key, rate, budget } = parts;
  const differs = (...fields: readonly (keyof Draft)[]) =>
    fields.some((field) => (draft[field] ?? "").trim() !== (was[field] ?? "").trim());
  const named = options.map(({ name }) => `option ${name}` as const);
  const name = draft.name.trim();
  const on = { kind: "key", what: key.id };
  const body = {
    ...(differs("name") && { name }),
    ...(differs("path") && { path: draft.path.trim() || "/" }),
    ...(differs("tags") && { tags: readList(draft.tags) ?? [] }),
    ...(differs("models", "maxCost", ...named) && { scopes: scopesIn(draft, was, key.scopes, options) }),
    ...(differs("ends") && { expiresAt: readEnd(draft.ends, now)?.expiresAt ?? null }),
  };
  const limits = ratesIn(draft, rate);
  const amount = readAmount(draft.amount);
  return [
    ...(Object.keys(body).length > 0 ? [stepFor("key", "/keys", key, body)] : []),
    ...(differs(...UNITS.map(([unit]) => unit))
      ? [stepFor("rate", "/rates", rate, limits && (rate ? { limits } : { name, on, limits }))]
      : []),
    ...(differs("amount")
      ? [stepFor("budget", "/budgets", budget, amount && (budget ? amount : { name, on, ...amount }))]
      : []),
  ];
}

/** @param body undefined: what is there is deleted */
function stepFor(
  of: keyof Parts,
  path: string,
  known: { id: string; version: string } | undefined,
  body: object | undefined,
): Step {
  if (!known) return { of, method: "POST", to: path, body: body ?? {} };
  const to = `${path}/${encodeURIComponent(known.id)}`;
  const { version } = known;
  return body ? { of, method: "PATCH", to, body, version } : { of, method: "DELETE", to, version };
}

/** Members of the scopes whose fields are as they were stay as they are. */
function scopesIn(draft: Draft, was: Draft, scopes: Key["scopes"], options: readonly KeyField[]) {
  const fields: readonly (readonly [string, keyof Draft, (text: string) => unknown])[] = [
    ["models", "models", readList],
    ["maxCost", "maxCost", readDollars],
    ...options.map(
      ({ name, type }) =>
        [
          name,
          `option ${name}`,
          (text: string) => (text === "" ? undefined : readOption(type, text)),
        ] as const,
    ),
  ];
  const changed = fields
    .filter(([, field]) => (draft[field] ?? "") !== (was[field] ?? ""))
    .map(([member, field, read]) => [member, read((draft[field] ?? "").trim())]);
  return { ...scopes, ...Object.fromEntries(changed) } as NonNullable<NewKey["scopes"]>;
}

/** @returns undefined if no limit is left */
function ratesIn(draft: Draft, rate: Rate | undefined): Record<string, number> | undefined {
  const kept = Object.entries(rate?.limits ?? {}).filter(([unit]) => !UNITS.some(([one]) => one === unit));
  const own = UNITS.flatMap(([unit]) => {
    const limit = readCount(draft[unit]);
    return limit === undefined ? [] : [[unit, limit] as const];
  });
  const limits = [...kept, ...own];
  return limits.length === 0 ? undefined : Object.fromEntries(limits);
}

/**
 * The form after another operator changed the key: fields that were touched keep their text, the others take the new one.
 * @param was the form as it was opened @param theirs the form of the key as it is now
 */
export function merged(draft: Draft, was: Draft, theirs: Draft): { draft: Draft; changes: string[] } {
  const fields = Object.keys(theirs) as (keyof Draft)[];
  const changes = fields
    .filter((field) => theirs[field] !== was[field])
    .map((field) => `${LABELS[field as Field] ?? field.replace("option ", "")}: ${theirs[field] || "none"}`);
  const kept = fields.filter((field) => draft[field] !== was[field]);
  return {
    draft: { ...theirs, ...Object.fromEntries(kept.map((field) => [field, draft[field]])) } as Draft,
    changes,
  };
}
