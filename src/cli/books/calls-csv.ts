/** The records of calls as comma-separated values, with the facts of their columns. */
import type { CallEntry, Calls } from "../../operator/index.ts";
import { csv } from "./show.ts";

type Cell = (call: CallEntry) => string | number | undefined;

const sumOf = ({ attempts }: CallEntry, amount: (attempt: CallEntry["attempts"][number]) => number) =>
  attempts.reduce((sum, attempt) => sum + amount(attempt), 0);

const COLUMNS: readonly (readonly [string, Cell])[] = [
  ["id", ({ id }) => id],
  ["time", ({ startedAt }) => new Date(startedAt).toISOString()],
  ["status", ({ status }) => status],
  ["outcome", ({ outcome }) => outcome],
  ["refused", ({ refused }) => refused],
  ["key", ({ key, keyName }) => keyName ?? key],
  ["path", ({ path }) => path],
  ["asked", ({ model }) => model],
  ["provider", ({ attempts }) => attempts.at(-1)?.provider],
  ["deployment", ({ attempts }) => attempts.at(-1)?.deployment],
  ["model", ({ attempts }) => attempts.at(-1)?.model],
  ["format", ({ format }) => format],
  ["client", ({ client }) => client],
  ["attempts", ({ attempts }) => attempts.length],
  ["input", (call) => sumOf(call, ({ usage }) => usage.input + usage.cacheRead + usage.cacheWrite)],
  ["cacheRead", (call) => sumOf(call, ({ usage }) => usage.cacheRead)],
  ["output", (call) => sumOf(call, ({ usage }) => usage.output)],
  ["firstMs", ({ firstMs }) => firstMs],
  ["ms", ({ ms }) => ms],
  ["costState", ({ attempts }) => attempts.at(-1)?.charge.state],
  ["dollars", (call) => (sumOf(call, ({ charge }) => charge.cost) / 1e9).toFixed(9)],
];

/** @param page calls with their facts, the newest first */
export function callsCsv({ calls, columns = [] }: Calls): string {
  const rows = calls.map((call) => [
    ...COLUMNS.map(([, read]) => read(call)),
    ...columns.map((column) => call.facts?.find(({ name }) => name === column)?.text),
  ]);
  return csv([[...COLUMNS.map(([name]) => name), ...columns], ...rows]);
}
