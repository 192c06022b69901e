/** What a printed page says of itself: which gateway, which time, which filters, and when it was printed. */
import { moment } from "../../numbers/times.ts";
import type { Period } from "./period.ts";

/** @param now milliseconds since 1970 */
export function statementOf({
  host,
  period,
  filters,
  now,
}: {
  host: string;
  period: Pick<Period, "from" | "to">;
  filters: Readonly<Record<string, string>>;
  now: number;
}): string {
  const utc = (time: number) => `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const only = Object.entries(filters).map(([name, value]) => `${name} ${value}`);
  return [
    `weir ${host}`,
    `${utc(period.from)} to ${utc(period.to)}`,
    only.length > 0 ? `only ${only.join(", ")}` : "all calls",
    `printed ${moment(now)}`,
  ].join(" · ");
}
