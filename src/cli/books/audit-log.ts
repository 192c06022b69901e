/** `weir audit log`: who changed keys, budgets and the rest, and what. */
import type { AuditEntry } from "../../operator/index.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { table } from "../terminal.ts";
import { bookCommand } from "./command.ts";
import { showMoney, showTime } from "./show.ts";
import { countOf, sinceOf, textOf } from "./values.ts";

const LAST = 50;
const PAGE = 500;

export const auditLog = bookCommand({
  name: "audit log",
  summary: "show who changed what: keys, budgets, rate limits, the store",
  flags: [
    { name: "--last", value: "N", help: `number of changes (default ${LAST})` },
    { name: "--since", value: "TIME", help: "only changes since then: 24h, 2026-11-01" },
    { name: "--actor", value: "ACTOR", help: "only changes by this admin key or command" },
    { name: "--of", value: "TEXT", help: "only changes whose subject contains this: keys, budgets/b_1" },
  ],
  async run({ api, flags, show }) {
    const most = countOf(flags, "--last") ?? LAST;
    const since = sinceOf(flags, "--since", Date.now()) ?? 0;
    const [by, of] = [textOf(flags, "--actor"), textOf(flags, "--of")];
    const isWanted = ({ actor, subject }: AuditEntry) =>
      (by === undefined || actor === by) && (of === undefined || subject.includes(of));
    const found: AuditEntry[] = [];
    for (let after: string | undefined; ;) {
      const page = await api.ask("GET /audit/log", {
        query: { limit: PAGE, after },
      });
      const recent = page.entries.filter(({ at }) => at >= since);
      found.push(...recent.filter(isWanted));
      after = page.next;
      if (after === undefined || found.length >= most || recent.length < page.entries.length) break;
    }
    const entries = found.slice(0, most);
    show(entries, () => (entries.length === 0 ? "No change matches." : tableOf(entries)));
  },
});

function tableOf(entries: readonly AuditEntry[]): string {
  const rows = entries.map((entry) => [
    showTime(entry.at),
    entry.actor,
    entry.address ?? "",
    entry.action,
    entry.subject,
    changeOf(entry),
  ]);
  return table([["time (UTC)", "by", "from", "action", "of", "change"], ...rows]);
}

/** Longest value of a member in the table. Characters. */
const LONGEST = 60;

/** The members that differ: `limit $100.00 → $200.00`. */
function changeOf({ before, after }: AuditEntry): string {
  const [old, fresh] = [membersOf(before), membersOf(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])];
  const changed = names.filter((name) => JSON.stringify(old[name]) !== JSON.stringify(fresh[name]));
  return changed
    .map((name) => {
      const to = `${name} ${shown(name, fresh[name])}`;
      return name in old ? `${name} ${shown(name, old[name])} → ${shown(name, fresh[name])}` : to;
    })
    .join(", ");
}

/** Columns whose names differ from those of the members, and columns that hold JSON. */
const MEMBERS: Readonly<Record<string, string>> = {
  ...{ limit_nano: "limit", every: "window", on_empty: "onEmpty", expires_at: "expiresAt" },
  revoked_at: "revokedAt",
};
const JSON_COLUMNS = new Set(["every", "on_empty", "alerts", "tags", "scopes", "limits", "burst"]);
/** Members that say nothing about the change. */
const LEFT_OUT = new Set(
  "id version declared source deleted_at created_at created_by digests on_kind on_what".split(" "),
);

/** The state before is a row of the store, the state after an entry of the API: both as an entry. */
function membersOf(value: unknown): Record<string, unknown> {
  if (!isObject(value)) return {};
  const { on_kind: kind, on_what: what } = value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    if (LEFT_OUT.has(name) || member === null || (name === "cut" && member === 0)) return [];
    const isJson = JSON_COLUMNS.has(name) && typeof member === "string";
    return [[MEMBERS[name] ?? name, isJson ? parseJson(member) : member] as const];
  });
  return { ...(kind !== undefined && { on: { kind, what } }), ...Object.fromEntries(members) };
}

function shown(name: string, value: unknown): string {
  if (value === undefined) return "nothing";
  if ((name === "limit" || name === "amount") && typeof value === "number") return showMoney(value);
  if (name.endsWith("At") && typeof value === "number") return showTime(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
