/** Every option, with values of every wrong shape: the start stops with a sentence that names the shape it needs. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import { ConfigError } from "../../src/config/error.ts";
import { loadConfig } from "../../src/config/load.ts";
import { OPTIONS } from "../helpers/features.ts";
import { IS_LONG } from "../helpers/effort.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-shapes-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Step = string | number;

/** The path of every value the schema knows, with one example for the names of maps and the positions of lists. */
function pathsOf(schema: TSchema, path: readonly Step[] = []): (readonly Step[])[] {
  const members: [Step, TSchema][] = [
    ...Object.entries((schema["properties"] ?? {}) as Record<string, TSchema>),
    ...Object.values((schema["patternProperties"] ?? {}) as Record<string, TSchema>).map(
      (member): [Step, TSchema] => ["openai", member],
    ),
    ...(schema["items"] ? [[0, schema["items"]] as [Step, TSchema]] : []),
    ...((schema["anyOf"] ?? []) as TSchema[]).flatMap((variant) =>
      Object.entries((variant["properties"] ?? {}) as Record<string, TSchema>),
    ),
  ];
  return [path, ...members.flatMap(([step, member]) => pathsOf(member, [...path, step]))];
}

const paths = pathsOf(OPTIONS.schema).filter((path) => path.length > 0);

/** No option takes a list with an empty list in it. */
const NEVER_RIGHT = [[]];
const WRONG: readonly unknown[] = [
  ...[null, true, -1, 1.5, "", "a b", "*"],
  ...[[], [null], NEVER_RIGHT, [""], {}, { a: 1 }],
];

function wrap(path: readonly Step[], value: unknown): unknown {
  return path.reduceRight((inner, step) => (typeof step === "number" ? [inner] : { [step]: inner }), value);
}

/** The values for the path at this position: one in four of them in the fast loop, all with `LONG_TESTS=1`. */
const wrongAt = (position: number) =>
  IS_LONG ? WRONG : [NEVER_RIGHT, ...WRONG.filter((_, at) => at % 4 === position % 4)];

/** The sentence that stops the start; undefined when the value is taken. */
function refusal(path: readonly Step[], value: unknown): string | undefined {
  writeFileSync(join(folder, "weir.yaml"), JSON.stringify(wrap(path, value)));
  try {
    loadConfig({ env: {}, cwd: folder });
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
}

test("the walk sees nested options", () => {
  const written = paths.map((path) => path.join("."));
  for (const name of [
    "port",
    "keys.0.sha256",
    "providers.openai.deployments.0.timeouts.gapMs",
    "routes.openai",
  ])
    expect(written).toContain(name);
});

describe("a value of a wrong shape is refused with a sentence that does not contradict itself", () => {
  for (const [position, path] of paths.entries()) {
    test(path.join("."), () => {
      const said = wrongAt(position)
        .map((value) => refusal(path, value))
        .filter((message) => message !== undefined);
      expect(said.length).toBeGreaterThan(0);
      for (const message of said) {
        expect(message).toMatch(/^weir\.yaml:1: [^\n]+ \(at [^\n]+\)\.$/);
        expect(message).not.toMatch(/undefined|\[object|something else|NaN/);
        expect(message).not.toMatch(/must be (a list|a map|a text)\b[^,]*, but is \1\b/);
      }
    });
  }
});
