/** The words of services as records, tokens and messages may have them: they are not trusted to hold no part of a text. */
import { AskError, type AskedFinding } from "./asker.ts";

const LONGEST_KIND = 20;
const LONGEST_REASON = 60;

/** `US_SSN` → `USSSN`: upper-case letters, as tokens need them. */
export function kindOf(type: unknown): string {
  const letters = typeof type === "string" ? type.toUpperCase().replace(/[^A-Z]/g, "") : "";
  return letters.slice(0, LONGEST_KIND) || "VALUE";
}

/** @param code of a verdict: `sexual/minors` @returns `verdict` for what is no name */
export function reasonOf(code: unknown): string {
  return typeof code === "string" && code.length <= LONGEST_REASON && /^[\w./ -]+$/.test(code)
    ? code
    : "verdict";
}

/** @throws AskError for findings that overlap: no one knows which of them holds */
export function apart(findings: readonly AskedFinding[], name: string): AskedFinding[] {
  const ordered = findings.toSorted((one, other) => one.index - other.index || one.start - other.start);
  for (const [at, { index, start }] of ordered.entries()) {
    const before = ordered[at - 1];
    if (before?.index === index && before.end > start) throw new AskError(`two findings of ${name} overlap`);
  }
  return ordered;
}
