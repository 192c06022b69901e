/**
 * The keys of LiteLLM's database, as `GET /key/list?return_full_object=true` or `GET /key/info` answer them. `token` is the
 * SHA-256 digest of the key, as weir has it.
 */
import { nameFrom } from "../../../core/name.ts";
import { modelName, shortName } from "../draft.ts";
import { modelsNamed } from "./access-groups.ts";
import type { Reading } from "../reader.ts";
import { SourceError } from "../reader.ts";
import { isEmpty, Leaves, type SourceDocument, type SourceNode } from "../source.ts";
import { budgetWindow } from "../windows.ts";

const DIGEST = /^[0-9a-f]{64}$/i;

export function readKeys(reading: Reading, document: SourceDocument): void {
  const leaves = new Leaves(document);
  reading.more.push(leaves);
  const { root } = leaves;
  const found = entriesOf(root);
  if (found.length === 0)
    throw new SourceError(
      `${document.name}:1`,
      "there is no key in it; save what LiteLLM answers to GET /key/list?return_full_object=true",
    );
  for (const name of ["total_count", "current_page", "total_pages", "next_cursor"])
    root.member(name)?.ignored("it describes the list, not a key");
  const names = new Set(["master"]);
  for (const { token, entry } of found) readKey(reading, token, entry, names);
}

/** The digests with the objects that describe them. */
function entriesOf(root: SourceNode): { token: SourceNode; entry: SourceNode }[] {
  const list = root.member("keys")?.items ?? root.items;
  const info = root.member("info");
  const single = root.member("key") ?? root.member("token");
  if (info && single) return [{ token: info.member("token") ?? single, entry: info }];
  if (list.length === 0 && single) return [{ token: single, entry: root }];
  return list.flatMap((item) => {
    const entry = item.member("info") ?? item;
    const token = item.text === undefined ? (entry.member("token") ?? item.member("key")) : item;
    return token ? [{ token, entry }] : [];
  });
}

function readKey(reading: Reading, token: SourceNode, entry: SourceNode, names: Set<string>): void {
  const text = token.text ?? "";
  if (entry.member("blocked")?.value === true) {
    entry.dropped("the key is blocked, and weir knows no key that is");
    return;
  }
  const isDigest = DIGEST.test(text);
  const key = isDigest ? { sha256: text.toLowerCase() } : reading.gatewayKey(token);
  const name = nameOf(entry, names);
  const to = `keys.${name}`;
  token.taken(to);
  for (const member of ["key_alias", "key_name"]) entry.member(member)?.taken(to);
  reading.draft.add("keys", { name, ...key, ...optionsOf(reading, entry, to) });
  explainRest(entry);
}

function nameOf(entry: SourceNode, names: Set<string>): string {
  const given =
    [entry.member("key_alias"), entry.member("user_id")].find((node) => node?.text)?.text ?? "key";
  const fitting = nameFrom(given, 58);
  let name = fitting;
  for (let number = 2; names.has(name); number++) name = `${fitting}-${number}`;
  names.add(name);
  return name;
}

/** Permissions and budget of the key, as options of a key of weir. */
function optionsOf(reading: Reading, entry: SourceNode, to: string): Record<string, unknown> {
  const limit = (member: string, name: string) => {
    const node = entry.member(member);
    if (node?.number === undefined || node.number < 1) return {};
    node.taken(`${to}.${name}`);
    return { [name]: Math.round(node.number) };
  };
  return {
    ...pathOf(entry, to),
    ...tagsOf(entry, to),
    ...modelsOf(reading, entry, to),
    ...expiryOf(entry, to),
    ...budgetOf(entry, to),
    ...limit("rpm_limit", "rpm"),
    ...limit("tpm_limit", "tpm"),
    ...limit("max_parallel_requests", "concurrency"),
  };
}

/** A team is a place in the tree of keys. */
function pathOf(entry: SourceNode, to: string): Record<string, unknown> {
  const team = [entry.member("team_alias"), entry.member("team_id")].find((node) => node?.text);
  if (!team?.text) return {};
  team.changed("weir has no teams; keys form a tree by their path, and budgets count by it", `${to}.path`);
  return { path: `/${shortName(team.text, "team")}` };
}

function tagsOf(entry: SourceNode, to: string): Record<string, unknown> {
  const tags = entry.member("metadata")?.member("tags")?.items ?? entry.member("tags")?.items ?? [];
  const texts = tags.filter(({ text }) => text !== undefined && /^[\w.:@-]{1,64}$/.test(text));
  for (const node of texts) node.taken(`${to}.tags`);
  return texts.length > 0 ? { tags: texts.map(({ text }) => text) } : {};
}

/** Names that stand for all models. */
const ALL_MODELS = new Set(["all-team-models", "all-proxy-models"]);

function modelsOf({ draft }: Reading, entry: SourceNode, to: string): Record<string, unknown> {
  const list = entry.member("models");
  const models = list?.items ?? [];
  if (models.length === 0) {
    list?.taken(to);
    return {};
  }
  for (const node of models) node.taken(`${to}.models`);
  if (models.some(({ text = "" }) => ALL_MODELS.has(text))) return {};
  return {
    models: models.flatMap(({ text = "" }) =>
      text.includes("*") ? text : modelsNamed(draft, text, modelName(text)),
    ),
  };
}

function expiryOf(entry: SourceNode, to: string): Record<string, unknown> {
  const node = entry.member("expires");
  const ms = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(node?.text ?? "") ? node!.text! : `${node?.text}Z`);
  if (!node?.text || Number.isNaN(ms)) return {};
  node.taken(`${to}.expires`);
  return { expires: new Date(ms).toISOString().replace(/\.\d+Z$/, "Z") };
}

function budgetOf(entry: SourceNode, to: string): Record<string, unknown> {
  const limit = entry.member("max_budget");
  const duration = entry.member("budget_duration");
  if (limit?.number === undefined) return {};
  const window = budgetWindow(duration?.text);
  if (!window) {
    limit.dropped("the import does not understand budget_duration", "weir budgets set");
    return {};
  }
  limit.taken(`${to}.budget`);
  if (window.why === undefined) duration?.taken(`${to}.budget`);
  else duration?.changed(window.why, `${to}.budget`);
  return { budget: `${limit.number}/${window.every}` };
}

const REST: Readonly<Record<string, readonly [why: string, instead?: string]>> = {
  spend: [
    "weir's books begin empty, so each budget begins with its whole limit",
    "lower the budget for the first window",
  ],
  budget_reset_at: ["weir's windows begin with the calendar"],
  user_id: ["weir has keys and no users", "give the keys of a user a tag or a path"],
  team_id: ["the path of the key has the name of the team"],
  soft_budget: ["weir reports percentages of a budget", "budget.alerts"],
  model_max_budget: ["weir's budgets on models count all keys", "make a key for each model"],
  aliases: ["weir's aliases hold for all keys", "aliases"],
  metadata: ["weir keeps no notes about keys"],
  blocked: ["the key is not blocked"],
};

function explainRest(entry: SourceNode): void {
  for (const [name, [why, instead]] of Object.entries(REST)) {
    const node = entry.member(name);
    if (node && !isUnset(node)) node.dropped(why, instead);
  }
  for (const node of entry.members)
    if (isUnset(node)) node.ignored("it is not set");
    else if (/^(created|updated|last)_|_at$|_by$/.test(node.name)) node.dropped("weir's books begin empty");
}

/** The member is there and says nothing. */
function isUnset({ value }: SourceNode): boolean {
  return value === false || isEmpty(value);
}
