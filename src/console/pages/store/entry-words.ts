/** Entries of the audit log as sentences: `raised the limit of the budget “agents, month” from $400.00 to $500.00`. */
import { counted } from "../../numbers/counts.ts";
import { dollars } from "../../numbers/money.ts";
import { bytes } from "../../numbers/bytes.ts";

export interface AuditEntry {
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  actor: string;
  address?: string;
  action: string;
  subject: string;
  before?: unknown;
  after?: unknown;
}

type Row = Readonly<Record<string, unknown>>;

/** Members that say nothing about what was changed. */
const TECHNICAL = new Set(
  "id version created_at created_by createdAt createdBy declared source deleted_at cut digests hint".split(
    " ",
  ),
);

const KINDS: Readonly<Record<string, string>> = { keys: "key", budgets: "budget", rates: "rate limit" };

/** The state before is a row of the store, the state after an entry of the API: columns by the names of members. */
const COLUMNS: Readonly<Record<string, string>> = {
  ...{ limit_nano: "limit", every: "window", on_empty: "onEmpty" },
  ...{ expires_at: "expiresAt", revoked_at: "revokedAt" },
};

/** The names of members in the page, for those that are not named alike. */
const MEMBERS: Readonly<Record<string, string>> = {
  ...{ expiresAt: "ends", revokedAt: "revoked", onEmpty: "when empty", rpm: "requests a minute" },
};

/** The action, without the actor and without a full stop. */
export function sayEntry({ action, subject, before, after }: AuditEntry): string {
  const [table = "", ...rest] = subject.split("/");
  const id = rest.join("/");
  const [was, is] = [rowOf(before), rowOf(after)];
  const kind = KINDS[table];
  if (kind !== undefined && action !== "prune") return sayPolicy(action, kind, id, was, is);
  if (table === "captures" && action !== "prune") return sayCapture(action, (is ?? was)?.["on"]);
  switch (action) {
    case "backup":
      return `copied the store to ${text(is?.["path"])}, ${bytes(Number(is?.["bytes"] ?? 0))}`;
    case "prune":
      return `deleted ${counted(Number(is?.["rows"] ?? 0), "row")}${kind ? ` of the key ${id}` : " that were older than kept"}`;
    case "reconcile":
      return `compared the invoice of ${rest[0] ?? ""} for ${rest[1] ?? ""}, ${dollars(Number(is?.["amount"] ?? 0))}, with the books`;
    case "release":
      return "opened the keys and hard budgets that were closed since the store was recovered";
    case "open":
      return "let calls without a key in";
    case "recover":
      return `recovered the store from ${text(is?.["from"])}`;
    default:
      return `${action} ${subject}`;
  }
}

function sayCapture(action: string, on: unknown): string {
  const { kind, what } = rowOf(on) ?? {};
  return `${action === "create" ? "began" : "ended"} to capture the ${text(kind)} ${text(what)}`;
}

function sayPolicy(action: string, kind: string, id: string, was?: Row, is?: Row): string {
  const name = `the ${kind} “${text(is?.["name"] ?? was?.["name"] ?? id)}”`;
  if (action === "create") return `made ${name}`;
  if (action === "delete") return `deleted ${name}`;
  if (action !== "change") return `${action} ${name}`;
  const [before, after] = [membersOf(was), membersOf(is)];
  const changed = changesOf(before, after);
  if (kind === "key" && after["revokedAt"] && !before["revokedAt"]) return `revoked ${name}`;
  if (kind === "key" && changed.length === 0) return `rotated ${name}`;
  const [only] = changed;
  if (changed.length === 1 && only === "limit") {
    const [from, to] = [Number(before["limit"]), Number(after["limit"])];
    return `${to > from ? "raised" : "lowered"} the limit of ${name} from ${dollars(from)} to ${dollars(to)}`;
  }
  if (changed.length === 1 && only === "name")
    return `renamed the ${kind} “${text(before["name"])}” to “${text(after["name"])}”`;
  const members = changed.flatMap((member) =>
    member === "scopes" ? changesOf(rowOf(before[member]), rowOf(after[member])) : [member],
  );
  const words = members.map((member) => MEMBERS[member] ?? member);
  return words.length === 0 ? `changed ${name}` : `changed ${words.join(", ")} of ${name}`;
}

function changesOf(was: Row = {}, is: Row = {}): string[] {
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...names].filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
}

/** What a row of the store or an entry of the API says, without technical members and those that are not set. */
function membersOf(row: Row = {}): Row {
  const { on_kind: kind, on_what: what, ...others } = row;
  const members = Object.entries(others).flatMap(([name, value]) =>
    value === null || TECHNICAL.has(name) ? [] : [[COLUMNS[name] ?? name, parsed(value)] as const],
  );
  return { ...Object.fromEntries(members), ...(kind !== undefined && { on: { kind, what } }) };
}

/** Both sides of an entry for a diff: the same members under the same names, with amounts and times as text. */
export function sidesOf({ before, after }: AuditEntry): [before: Row | undefined, after: Row | undefined] {
  return [plain(rowOf(before)), plain(rowOf(after))];
}

function plain(row: Row | undefined): Row | undefined {
  if (!row) return undefined;
  const members = Object.entries(membersOf(row));
  return Object.fromEntries(members.map(([name, value]) => [MEMBERS[name] ?? name, plainValue(name, value)]));
}

function plainValue(name: string, value: unknown): unknown {
  if (typeof value !== "number") return value;
  if (name === "limit") return dollars(value);
  return /(At|_at)$/.test(name) ? new Date(value).toISOString() : value;
}

/** Columns of the store hold JSON as text. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^[[{"]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function rowOf(value: unknown): Row | undefined {
  return typeof value === "object" && value !== null ? (value as Row) : undefined;
}

const text = (value: unknown): string => (value === undefined || value === null ? "" : String(value));

const ACTORS: Readonly<Record<string, string>> = {
  console: "the console, by a sign-in link",
  "run-file": "the command line",
  cli: "the command line",
  config: "weir.yaml",
  keeper: "weir itself",
};

/** @param names names of keys by id */
export function actorName(actor: string, names: ReadonlyMap<string, string>): string {
  return ACTORS[actor] ?? names.get(actor) ?? actor;
}
