/** `weir audit`: whether the books hold. */
import { paint, table } from "../terminal.ts";
import { bookCommand } from "./command.ts";
import { withProgress } from "./progress.ts";
import type { Frozen, Proof } from "../../operator/index.ts";

export const audit = bookCommand({
  name: "audit",
  summary: "prove that the books agree with themselves; exits with 1 if they do not",
  async run({ api, show }) {
    const work = api.ask("GET /audit/books");
    const report = await withProgress("checking the books", work, async () => {
      const { auditing } = await api.ask("GET /store");
      return auditing && auditing.done / auditing.of;
    });
    show(report, () => verdicts(report));
    return report.holds ? 0 : 1;
  },
});

/** A line for each check, and the result. */
export function verdicts({ checks, holds }: Frozen<Proof>): string {
  const rows = checks.map(({ name, holds: isHeld, detail }) => [isHeld ? "ok" : "FAILED", name, detail]);
  const lines = table(rows)
    .split("\n")
    .map((line, at) => paint(checks[at]!.holds ? "green" : "red", line));
  const failed = checks.filter((check) => !check.holds).length;
  return [
    ...lines,
    holds ? "The books hold." : `The books do not hold: ${failed} of ${checks.length} checks failed.`,
  ].join("\n");
}
