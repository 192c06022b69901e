/** The results of a drill as a JUnit file, which CI systems read. */
import type { DrillResult } from "./run.ts";
import { describeRun } from "./run.ts";

/** One test case for each fault: `bad` is a failure, `skipped` is skipped, `weak` passes with its reason as output. */
export function junitFile(command: string, results: readonly DrillResult[]): string {
  const count = (verdict: string) => results.filter((result) => result.verdict === verdict).length;
  const seconds = results.reduce((sum, { run }) => sum + run.ms, 0) / 1_000;
  const suite = {
    name: `weir drill -- ${command}`,
    tests: results.length,
    failures: count("bad"),
    skipped: count("skipped"),
    time: seconds.toFixed(3),
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<testsuites>",
    `<testsuite${attributes(suite)}>`,
    ...results.map(testCase),
    "</testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase({ fault, verdict, reason, run }: DrillResult): string {
  const open = `<testcase${attributes({ classname: "weir.drill", name: fault.name, time: (run.ms / 1_000).toFixed(3) })}>`;
  return `${open}${bodyOf(verdict, reason)}<system-out>${escape(`${verdict}: ${reason}\n${describeRun(run)}`)}</system-out></testcase>`;
}

function bodyOf(verdict: DrillResult["verdict"], reason: string): string {
  if (verdict === "bad") return `<failure${attributes({ message: reason })}/>`;
  return verdict === "skipped" ? `<skipped${attributes({ message: reason })}/>` : "";
}

function attributes(values: Record<string, string | number>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escape(String(value))}"`)
    .join("");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** XML allows no control characters besides tab and line ends. */
const FORBIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function escape(text: string): string {
  return text.replace(FORBIDDEN, "").replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}
