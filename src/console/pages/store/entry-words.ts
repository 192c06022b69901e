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

/** Members of rows that say nothing about what was changed. */
const TECHNICAL = new Set(["version", "created_at", "created_by", "declared", "deleted_at", "cut"]);

const KINDS: Readonly<Record<string, string>> = { keys: "key", budgets: "budget", rates: "rate limit" };

/** The names of members in the page, for those that are not named alike. */
const MEMBERS: Readonly<Record<string, string>> = {
  limit_nano: "limit",
  expires_at: "ends",
  revoked_at: "revoked",
  on_kind: "on",
  on_what: "on",
  every: "window",
  on_empty: "when empty",
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
  const changed = changesOf(was, is);
  if (kind === "key" && is?.["revoked_at"] && !was?.["revoked_at"]) return `revoked ${name}`;
  if (kind === "key" && changed.length === 0) return `rotated ${name}`;
  const [only] = changed;
  if (changed.length === 1 && only === "limit_nano") {
    const [from, to] = [Number(was?.["limit_nano"]), Number(is?.["limit_nano"])];
    return `${to > from ? "raised" : "lowered"} the limit of ${name} from ${dollars(from)} to ${dollars(to)}`;
  }
  if (changed.length === 1 && only === "name")
    return `renamed the ${kind} “${text(was?.["name"])}” to “${text(is?.["name"])}”`;
  const members = [...new Set(changed.map((member) => MEMBERS[member] ?? member))];
  return members.length === 0 ? `changed ${name}` : `changed ${members.join(", ")} of ${name}`;
}

function changesOf(was: Row = {}, is: Row = {}): string[] {
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...names].filter(
    (name) => !TECHNICAL.has(name) && JSON.stringify(was[name] ?? null) !== JSON.stringify(is[name] ?? null),
  );
}

/** Both sides of an entry for a diff: without technical members, and with JSON in columns as JSON. */
export function sidesOf({ before, after }: AuditEntry): [before: Row | undefined, after: Row | undefined] {
  return [plain(rowOf(before)), plain(rowOf(after))];
}

function plain(row: Row | undefined): Row | undefined {
  if (!row) return undefined;
  const members = Object.entries(row).filter(([name, value]) => !TECHNICAL.has(name) && value !== null);
  return Object.fromEntries(
    members.map(([name, value]) => [
      MEMBERS[name] && name !== "on_what" ? MEMBERS[name] : name,
      plainValue(name, value),
    ]),
  );
}

function plainValue(name: string, value: unknown): unknown {
  if (name === "limit_nano") return dollars(Number(value));
  if (/_at$/.test(name) && typeof value === "number") return new Date(value).toISOString();
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
  console: "console, by a sign-in link",
  "run-file": "command line",
  cli: "command line",
  config: "weir.yaml",
  keeper: "weir itself",
};

/** @param names names of keys by id */
export function actorName(actor: string, names: ReadonlyMap<string, string>): string {
  return ACTORS[actor] ?? names.get(actor) ?? actor;
}
