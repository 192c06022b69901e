/** Moments of budgets, in the zone in which their windows begin. */

const DAY = 86_400_000;

/**
 * `18:20 UTC`, `tomorrow 00:00 UTC`, `1 Dec 00:00 UTC`; of what is more than two days away and not midnight, only the day: `25 Nov`.
 *
 * @param zone IANA name @param now milliseconds since 1970
 */
export function momentWords(at: number, zone: string, now: number): string {
  const clock = part(at, zone, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const day = dayIn(at, zone);
  const name = zone === "UTC" ? "UTC" : zone.split("/").at(-1)!.replaceAll("_", " ");
  if (day === dayIn(now, zone)) return `${clock} ${name}`;
  if (day === dayIn(now + DAY, zone)) return `tomorrow ${clock} ${name}`;
  const date = part(at, zone, { day: "numeric", month: "short" });
  return at - now > 2 * DAY && clock !== "00:00" ? date : `${date} ${clock} ${name}`;
}

const dayIn = (at: number, zone: string) =>
  part(at, zone, { day: "numeric", month: "numeric", year: "numeric" });

function part(at: number, timeZone: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat("en-GB", { ...options, timeZone }).format(at);
}
