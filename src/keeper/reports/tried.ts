/** Attempts that failed, in groups by who is at fault. */

export type Tried = "429" | "5xx" | "broken" | "credential" | "request";

const CREDENTIAL = ["401", "402", "403"];

/** @param what the status of the provider's error, or a word */
export function groupOf(what: string): Tried {
  if (what === "429") return "429";
  if (CREDENTIAL.includes(what)) return "credential";
  if (/^5\d\d$/.test(what)) return "5xx";
  return /^4\d\d$/.test(what) ? "request" : "broken";
}

const has = (what: string) => `detail LIKE '%{"try":_,"what":"${what}"%'`;

/** The same of rows in the store, as SQL. A quotation mark within a text is escaped there. */
const CONDITIONS: Readonly<Record<Tried, string>> = {
  "429": has("429"),
  "5xx": has("5__"),
  credential: CREDENTIAL.map(has).join(" OR "),
  request: `${has("4__")} AND replace(replace(replace(replace(detail, '"what":"429"', ''), '"what":"401"', ''), '"what":"402"', ''), '"what":"403"', '') LIKE '%{"try":_,"what":"4__"%'`,
  broken: `detail LIKE '%"failures":[{%' AND replace(replace(detail, '"what":"4', ''), '"what":"5', '') LIKE '%{"try":_,"what":"%'`,
};

export function triedCondition(tried: Tried): string {
  return `(${CONDITIONS[tried]})`;
}
