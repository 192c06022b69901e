/** `weir guards prove`: planted values go through guards of each kind, and none may come out. */
import { resolve } from "node:path";
import { type Context, UsageError, valueFlags } from "../../../cli/command.ts";
import { table } from "../../../cli/terminal.ts";
import { CLIENTS } from "./clients.ts";
import type { Failure } from "./judge.ts";
import { allCells, type Cell, cellNamed, LANES, sampledCells } from "./matrix.ts";
import { prove, type Proof } from "./prove.ts";
import { KINDS } from "./values.ts";

const SAMPLE = 1_300;
/** Characters around a value in a long text. */
const LONG = { sample: 3_000, all: 20_000 };
/** Failures that are printed. */
const SHOWN = 10;

/** @returns 1 if something does not hold */
export async function run(context: Context): Promise<number> {
  const { words, flags, cwd, print, printError } = context;
  const { "--cell": name } = valueFlags(flags);
  const [file] = words;
  const asJson = flags["--json"] === true;
  if (file !== undefined && !asJson)
    throw new UsageError("guards prove writes a file with --json: guards prove --json FILE");
  const seed = countIn(flags["--seed"], "--seed", 1);
  const isAll = flags["--all"] === true;
  const cells =
    name === undefined
      ? isAll
        ? allCells()
        : sampledCells(countIn(flags["--cells"], "--cells", SAMPLE), seed)
      : [oneCell(name)];
  const long = isAll ? LONG.all : LONG.sample;
  const proof = await prove(cells, context, {
    ...{ long, scenarios: name === undefined, untilFirst: flags["--first"] === true },
    progress: (done) => isAll && printError(`weir: ${done} cells`),
  });
  const result = JSON.stringify(written(proof, seed, isAll), null, 2);
  if (file !== undefined) await Bun.write(resolve(cwd, file), `${result}\n`);
  if (asJson && file === undefined) print(result);
  else printResult(proof, name, isAll ? undefined : seed, print);
  return proof.failures.length > 0 ? 1 : 0;
}

/** @param name of the only cell @param seed of the sample */
function printResult(
  proof: Proof,
  name: string | undefined,
  seed: number | undefined,
  print: Context["print"],
): void {
  if (name === undefined) print(matrixOf(proof));
  for (const failure of proof.failures.slice(0, SHOWN)) print(describe(failure, name !== undefined));
  const { assertions, failures, seconds } = proof;
  print(
    `${proof.cells} cells, ${assertions} assertions in ${seconds.toFixed(1)} s, ${failures.length} do not hold` +
      (seed === undefined || name !== undefined ? "" : ` (seed ${seed})`),
  );
}

function oneCell(name: string): Cell {
  const cell = cellNamed(name);
  if (!cell) throw new UsageError(`There is no cell ${name}; a failure of the proof names one.`);
  return cell;
}

function countIn(value: string | true | undefined, flag: string, usual: number): number {
  if (value === undefined) return usual;
  if (!/^\d{1,9}$/.test(String(value)) || Number(value) === 0)
    throw new UsageError(`${flag} is a number from 1 on.`);
  return Number(value);
}

/** Cells by client and lane, and by kind; of a kind with failures both numbers. */
function matrixOf({ matrix }: Proof): string {
  const rows = CLIENTS.flatMap(({ name }) =>
    LANES.map((lane) => [
      `${name}, ${lane}`,
      ...KINDS.map((kind) => {
        const { cells, failed } = matrix.get(`${name} ${lane} ${kind.name}`) ?? { cells: 0, failed: 0 };
        return failed > 0 ? `${failed} of ${cells} FAIL` : cells > 0 ? String(cells) : "";
      }),
    ]),
  );
  const filled = rows.filter(([, ...counts]) => counts.some((count) => count !== ""));
  return table([["cells that hold", ...KINDS.map(({ name }) => name)], ...filled]);
}

function describe({ cell, what, detail }: Failure, isOne: boolean): string {
  const again = isOne ? `  ${detail}` : `  weir guards prove --cell '${cell}'`;
  return `${what}: it does not\n${again}`;
}

function written({ matrix, failures, ...facts }: Proof, seed: number, isAll: boolean): object {
  return {
    ...(isAll ? { all: true } : { seed }),
    ...facts,
    failures,
    matrix: Object.fromEntries(matrix),
  };
}
