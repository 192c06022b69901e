/** A rehearsal as a table, as JSON and as a JUnit file. */
import { table } from "../../../cli/terminal.ts";
import { showCount, showMoney } from "../../../cli/books/show.ts";
import type { JsonObject } from "../../../core/json.ts";
import { CAUSES } from "./compare.ts";
import { examplesOf } from "./examples.ts";
import type { Changed, Group, Rehearsed } from "./rehearsal.ts";

/** Reasons why calls need their tape, with their numbers. */
function reasonsOf({ unknown }: Rehearsed): [why: string, calls: number][] {
  const counts = new Map<string, number>();
  for (const { why } of unknown) for (const one of why) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

export function reportText(done: Rehearsed): string {
  const { calls, same, changed, unknown, groups } = done;
  const lines = [
    `${showCount(calls)} calls: ${showCount(same)} the same, ${showCount(changed.length)} changed, ${showCount(unknown.length)} need their tape`,
  ];
  if (groups.length > 0)
    lines.push(
      "",
      table([
        ["cause", "calls", "first", "what"],
        ...groups.map((group) => [
          group.cause,
          showCount(group.calls),
          `--explain ${group.first}`,
          whatOf(group),
        ]),
      ]),
    );
  for (const [why, count] of reasonsOf(done))
    lines.push("", `needs its tape: ${why}: ${showCount(count)} calls`);
  return lines.join("\n");
}

function whatOf({ cause, what, before, after }: Group): string {
  return cause === "price" ? `${what} (${showMoney(before)} -> ${showMoney(after)})` : what;
}

/** The shape that scripts rely on: each cause is there, empty if nothing differs by it. Money is nano-dollars. */
export function reportJson(done: Rehearsed): JsonObject {
  const { calls, same, changed, unknown, groups } = done;
  const causes = CAUSES.map((cause) => {
    const own = groups.filter((group) => group.cause === cause);
    return [
      cause,
      {
        calls: changed.filter(({ differences }) => differences.some((one) => one.cause === cause)).length,
        groups: own.map(({ what, calls: count, first, before, after }) => ({
          ...{ what, calls: count, first },
          ...(cause === "price" && { before, after }),
        })),
      },
    ];
  });
  return {
    ...{ calls, same, changed: changed.length, needs_tape: unknown.length },
    causes: Object.fromEntries(causes) as JsonObject,
    changes: changed.map(({ outline, differences }) => ({
      call: outline.call,
      causes: [...new Set(differences.map(({ cause }) => cause))],
    })),
    unknown: unknown.map(({ call, why }) => ({ call, why: [...why] })),
    examples: examplesOf(done, explainChanged),
  };
}

/** One changed call as a whole. */
export function explainChanged({ outline, differences }: Changed): JsonObject {
  const { call, at, operation, format, model, bytes } = outline;
  return {
    ...{ call, at: new Date(at).toISOString(), operation, format, model, bytes },
    differences: differences.map(({ cause, what, before, after }) => ({ cause, what, before, after })),
  };
}

/** One test case for each cause. */
export function reportJunit(done: Rehearsed): string {
  const cases = CAUSES.map((cause) => {
    const own = done.groups.filter((group) => group.cause === cause);
    const open = `<testcase classname="weir.rehearse" name="${cause}">`;
    if (own.length === 0) return `${open}</testcase>`;
    const text = own.map((group) => `${group.calls} calls: ${whatOf(group)}`).join("\n");
    return `${open}<failure message="${escape(`${own.length} differences`)}">${escape(text)}</failure></testcase>`;
  });
  const failures = cases.filter((one) => one.includes("<failure")).length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites><testsuite name="weir rehearse" tests="${cases.length}" failures="${failures}">`,
    ...cases,
    "</testsuite></testsuites>",
    "",
  ].join("\n");
}

function escape(text: string): string {
  return text
    .replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "?");
}
