/** Calls as a file for spreadsheets: times in UTC, amounts with nine decimals. */
import { get } from "../../data/api.ts";
import { chargeStateOf, costOf, servedBy, tokensOf } from "../../data/call-facts.ts";
import type { CallEntry, Calls } from "../../data/types.ts";
import { toast } from "../../parts/toasts.tsx";

/** Calls of one file. */
const MOST = 20_000;
const PAGE = 500;

/** Name, and the value if it is not the member of that name. */
type Column = readonly [string, ((call: CallEntry) => string | number | undefined)?];

const COLUMNS: readonly Column[] = [
  ["id"],
  ["time", ({ startedAt }) => new Date(startedAt).toISOString()],
  ["status"],
  ["outcome"],
  ["finish"],
  ["error", ({ error }) => error?.code ?? error?.kind],
  ["refused"],
  ["key", ({ key, keyName }) => keyName ?? key],
  ["path"],
  ["tags", ({ tags }) => tags?.join(" ")],
  ["session"],
  ["asked", ({ model }) => model],
  ["provider", (call) => servedBy(call)?.provider],
  ["deployment", (call) => servedBy(call)?.deployment],
  ["model", (call) => servedBy(call)?.model],
  ["format"],
  ["client"],
  ["stream", ({ stream }) => String(stream)],
  ["losses", ({ losses }) => losses?.map(({ code, path }) => `${code} ${path}`).join("; ")],
  ["attempts", ({ attempts }) => attempts.length],
  ["input", (call) => tokensOf(call).input],
  ["cacheRead", (call) => tokensOf(call).cacheRead],
  ["cacheWrite", ({ attempts }) => attempts.reduce((sum, { usage }) => sum + usage.cacheWrite, 0)],
  ["output", (call) => tokensOf(call).output],
  ["firstMs"],
  ["ms"],
  ["costState", chargeStateOf],
  ["charge", ({ attempts }) => chargeLines(attempts)],
  ["dollars", (call) => (chargeStateOf(call) === "unpriced" ? undefined : (costOf(call) / 1e9).toFixed(9))],
];

/** One piece for each attempt: `openai/gpt-5.4 metered 0.002586000`. */
function chargeLines(attempts: CallEntry["attempts"]): string {
  return attempts
    .map(({ provider, model, charge: { state, cost } }) => {
      const amount = state === "unpriced" ? "" : ` ${(cost / 1e9).toFixed(9)}`;
      return `${provider}/${model} ${state}${amount}`;
    })
    .join("; ");
}

/** @param facts names of the facts of calls, which have a column each */
export function csvOf(calls: readonly CallEntry[], facts: readonly string[] = []): string {
  const columns = [
    ...COLUMNS,
    ...facts.map((fact): Column => [fact, (call) => call.facts?.find(({ name }) => name === fact)?.text]),
  ];
  const lines = calls.map((call) =>
    columns.map(([name, read]) => cell(read ? read(call) : call[name as "id" | "status"])),
  );
  return [columns.map(([name]) => name), ...lines].map((line) => `${line.join()}\r\n`).join("");
}

/** Spreadsheets run a cell that begins with one of these characters as a formula. */
function cell(value: string | number | undefined): string {
  if (typeof value !== "string") return value === undefined ? "" : String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param query of `/calls` */
export async function downloadCsv(query: string): Promise<void> {
  const calls: CallEntry[] = [];
  const join = query === "" ? "?" : "&";
  let next: string | undefined;
  let columns: readonly string[] | undefined;
  try {
    do {
      const cursor: string = next === undefined ? "" : `&after=${encodeURIComponent(next)}`;
      const page = await get<Calls>(`/calls${query}${join}limit=${PAGE}&facts=true${cursor}`);
      calls.push(...page.calls);
      columns = page.columns;
      next = page.next;
    } while (next !== undefined && calls.length < MOST);
  } catch {
    toast("The calls could not be read.");
    return;
  }
  save(csvOf(calls, columns), `calls-${new Date().toISOString().slice(0, 10)}.csv`);
  if (next !== undefined) toast(`The file has the newest ${calls.length} calls; narrow the range.`);
}

/** Saves text as a file of the browser. */
export function save(text: string, name: string): void {
  saveFile(new Blob([text], { type: "text/csv" }), name);
}

export function saveFile(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
