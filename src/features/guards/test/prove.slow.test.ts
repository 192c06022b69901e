/** `weir guards test` and `weir guards prove`, as commands. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cellNamed, nameOf, sampledCells } from "../prove/matrix.ts";
import { KINDS } from "../prove/values.ts";
import { VARIANTS } from "../prove/variants.ts";

setDefaultTimeout(120_000);

const ROOT = resolve(import.meta.dir, "../../../..");
const folder = mkdtempSync(join(tmpdir(), "weir-guards-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

writeFileSync(
  join(folder, "weir.yaml"),
  JSON.stringify({ guards: { pii: { find: ["email", "card"], do: "replace" } } }),
);
writeFileSync(join(folder, "mail.txt"), "Dear all,\n  write to anna@example.com.\n");
writeFileSync(join(folder, "none.txt"), "Nothing here.\n");

function weir(args: readonly string[], input = ""): { code: number; out: string; err: string } {
  const ran = Bun.spawnSync([process.execPath, join(ROOT, "src/main.ts"), ...args], {
    cwd: folder,
    stdin: Buffer.from(input),
  });
  return { code: ran.exitCode, out: ran.stdout.toString(), err: ran.stderr.toString() };
}

test("guards test says what it finds and where, in three exit codes", () => {
  const found = weir(["guards", "test", "pii", "mail.txt"]);
  expect([found.code, found.out]).toEqual([1, '2:12 (21-37) EMAIL "anna@example.com"\n']);
  expect(weir(["guards", "test", "pii", "none.txt"])).toMatchObject({ code: 0, out: "" });
  expect(weir(["guards", "test", "other", "none.txt"])).toMatchObject({
    code: 2,
    err: 'weir: the config has no guard "other"; its guards: pii\n',
  });
  expect(weir(["guards", "test", "pii", "absent.txt"]).code).toBe(2);
  expect(weir(["guards", "test", "pii"]).code).toBe(2);
});

test("guards test reads its input, and prints JSON", () => {
  const { code, out } = weir(["guards", "test", "pii", "-", "--json"], "card 4111 1111 1111 1111");
  const value = { kind: "CARD", text: "4111 1111 1111 1111", line: 1, column: 6, start: 5, end: 24 };
  expect([code, JSON.parse(out)]).toEqual([1, { guard: "pii", findings: [value] }]);
});

test("guards test gives the rates of a folder", () => {
  const { code, out } = weir(["guards", "test", "pii", "--corpus", ".", "--json"]);
  const { found, files, kinds } = JSON.parse(out) as Record<string, Record<string, unknown>>;
  expect([code, found!["findings"], found!["files"], files]).toMatchObject([1, 1, 1, 3]);
  expect(kinds).toMatchObject({ EMAIL: { files: 1, findings: 1 } });
});

test("guards prove holds in a sample, writes what it did, and repeats one cell", async () => {
  const result = join(folder, "result.json");
  const { code, out, err } = weir(["guards", "prove", "--cells", "100", "--seed", "7", "--json", result]);
  expect([code, err, out.split("\n").at(-2)]).toEqual([
    0,
    "",
    expect.stringMatching(/ 0 do not hold \(seed 7\)$/),
  ]);
  const { assertions, cells, failures } = (await Bun.file(result).json()) as Record<string, unknown>;
  expect(failures).toEqual([]);
  expect(assertions).toBeGreaterThan(10 * Number(cells));
  const one = weir(["guards", "prove", "--cell", "email/messages/native/3/tool-result/end/replace"]);
  expect([one.code, one.out]).toEqual([0, expect.stringMatching(/^1 cells, \d+ assertions/)]);
  expect(weir(["guards", "prove", "--cell", "email/no/such/cell"]).code).not.toBe(0);
});

test("the sample has every coordinate, the same for a seed, and seven kinds", () => {
  expect(VARIANTS.length).toBe(40);
  expect(KINDS.map(({ name }) => name)).toEqual([
    "email",
    "phone",
    "card",
    "iban",
    "ip",
    "secrets",
    "custom",
  ]);
  const names = sampledCells(1_500, 1).map(nameOf);
  expect(sampledCells(1_500, 1).map(nameOf)).toEqual(names);
  expect(sampledCells(1_500, 2).map(nameOf)).not.toEqual(names);
  for (const name of names) expect(nameOf(cellNamed(name)!)).toBe(name);
  const words = new Set(names.flatMap((name) => name.split("/")));
  for (const { name } of [...KINDS, ...VARIANTS]) expect(words.has(name)).toBe(true);
});
