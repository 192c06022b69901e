/** The results of a drill as text: lines, a table, JSON. */
import { describeLasts, EXPECTED, type Fault } from "./faults.ts";
import type { DrillResult } from "./run.ts";
import type { Verdict } from "./verdict.ts";

/** One line for a result, as it comes: `[3/20] ok: cut (4.2 s)`. */
export function progressLine({ fault, verdict, run }: DrillResult, done: number, all: number): string {
  return `[${done}/${all}] ${verdict}: ${fault.name} (${seconds(run.ms)} s)`;
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(1);
}

function resultLine({ fault, verdict, reason, tries, run }: DrillResult, width: number): string {
  const requests = fault.script.kind === "refuse" ? "?" : String(tries.length);
  const cells = [
    verdict.padEnd(HEAD[0].length),
    fault.name.padEnd(width),
    requests.padStart(HEAD[2].length),
    `${seconds(run.ms)} s`.padStart(HEAD[3].length),
    reason,
  ];
  return cells.join("  ");
}

/** The columns; the cells of the second and the last have other widths. */
const HEAD = ["verdict", "fault", "requests", "   time", "what the client did"] as const;

/** All results with their number by verdict. */
export function resultTable(results: readonly DrillResult[]): string {
  const width = Math.max(...results.map(({ fault }) => fault.name.length), HEAD[1].length);
  const [verdict, fault, ...rest] = HEAD;
  const head = [verdict, fault.padEnd(width), ...rest].join("  ");
  return [head, ...results.map((result) => resultLine(result, width)), countLine(results)].join("\n");
}

function countLine(results: readonly DrillResult[]): string {
  const count = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).length;
  const parts = (["ok", "weak", "bad", "skipped"] as const).map((verdict) => `${count(verdict)} ${verdict}`);
  return `${results.length} ${results.length === 1 ? "fault" : "faults"}: ${parts.join(", ")}`;
}

/** The faults, for `--list`. */
export function faultList(faults: readonly Fault[]): string {
  return faults
    .map(
      ({ name, meets, lasts, expects }) =>
        `${name}\n  the client meets: ${meets}\n  lasts: ${describeLasts(lasts)}\n  a good client: ${EXPECTED[expects]}`,
    )
    .join("\n");
}

/** A fault for programs, for `--list --json`. */
export function faultJson({ name, meets, lasts, expects }: Fault): object {
  return { fault: name, meets, lasts: describeLasts(lasts), expects };
}

/** A result for programs. Times in seconds. */
export function resultJson({ fault, verdict, reason, tries, run }: DrillResult): object {
  return {
    fault: fault.name,
    verdict,
    reason,
    expects: fault.expects,
    requests: tries.map(({ question, at, faulty, endedAt, left, sent, total }) => ({
      question,
      faulty,
      at: at / 1_000,
      ended: endedAt === undefined ? null : endedAt / 1_000,
      leftEarly: left ?? false,
      sentBytes: sent,
      wholeBytes: total,
    })),
    ending: run.ending,
    seconds: run.ms / 1_000,
  };
}
