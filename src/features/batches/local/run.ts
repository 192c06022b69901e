/** `weir batches run FILE`: runs a file of lines without a gateway. The same command again goes on where it was interrupted. */
import { mkdirSync, rmSync } from "node:fs";
import { join, parse, resolve } from "node:path";
import { readAmount, textOf } from "../../../cli/books/values.ts";
import { type Command, configOptions, type Context, UsageError } from "../../../cli/command.ts";
import { loadConfig } from "../../../config/load.ts";
import { formatNano, type Nano, toDollars } from "../../../ledger/money.ts";
import { exitProcess } from "../../../process/exit.ts";
import { stateHome } from "../../../run/home.ts";
import type { openaiBatch } from "../shapes/openai.ts";
import { bytesOf } from "./bytes.ts";
import { endpointOf } from "./endpoint.ts";
import { Failures } from "./failures.ts";
import { completeLines, type Given } from "./lines.ts";
import { LONGEST_WINDOW, type OwnGateway, startOwn } from "./own-gateway.ts";
import { type Now, ProgressLine } from "./progress.ts";
import { modelPrices, priceLines } from "./prices.ts";
import { writeTo } from "./write.ts";

type Found = ReturnType<typeof openaiBatch>;

/** Exit codes beside 0: lines failed, the user ended it. */
const EXIT_FAILED = 1;
const EXIT_INTERRUPTED = 130;
const POLL_MS = 250;
const ENDS: readonly string[] = ["completed", "failed", "cancelled", "expired"];
const HOWS = ["auto", "native", "run"] as const;

interface Wanted extends Given {
  readonly file: string;
  readonly folder: string;
  readonly out: string;
  readonly errors: string;
  readonly budget?: Nano;
  readonly how?: (typeof HOWS)[number];
}

export const run: Pick<Command, "run"> = {
  async run(context) {
    // What the gateway still waits for, such as idle connections, must not keep the command.
    return exitProcess(await runHere(context));
  },
};

/** @returns the exit code */
async function runHere(context: Context): Promise<number> {
  const wanted = await wantedOf(context);
  const most = await mostOf(wanted, context);
  mkdirSync(wanted.folder, { recursive: true, mode: 0o700 });
  const { folder, budget, how } = wanted;
  const gateway = await startOwn(context, {
    ...{ folder, isFresh: context.flags["--fresh"] === true },
    ...(budget !== undefined && { budget: toDollars(budget) }),
    ...(how && { how }),
  });
  const stop = new Stop(context.printError);
  try {
    const batch = await watched(gateway, wanted, most, stop.signal);
    if (batch && ENDS.includes(batch.status)) return await report(gateway, batch, wanted, context);
    await gateway.stop();
    return interrupted(batch, context);
  } finally {
    await gateway.stop();
    stop.close();
  }
}

/** Ends at Ctrl-C: the first one lets lines end, the second one does not. */
class Stop {
  readonly #controller = new AbortController();
  readonly #onSignal: () => void;

  constructor(printError: Context["printError"]) {
    this.#onSignal = () => {
      if (this.signal.aborted) exitProcess(EXIT_INTERRUPTED);
      this.#controller.abort();
      printError("\nweir: no further line begins; lines that run may end (Ctrl-C once more: at once)");
    };
    for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, this.#onSignal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  close(): void {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, this.#onSignal);
  }
}

/** @throws UsageError */
async function wantedOf(context: Context): Promise<Wanted> {
  const { words, flags, cwd, env } = context;
  const file = resolve(cwd, words[0]!);
  if (!(await Bun.file(file).exists())) throw new UsageError(`${words[0]} cannot be read`);
  const { config } = loadConfig(configOptions(context));
  const home = stateHome(config, env);
  if (home.kind !== "folder")
    throw new UsageError("batches run keeps its journal in the state folder: name one with --state DIR");
  const endpoint = await endpointOf(bytesOf(file), textOf(flags, "--format"));
  const model = textOf(flags, "--model");
  const budget = textOf(flags, "--budget");
  const how = HOWS.find((one) => one === flags["--how"]);
  if (flags["--how"] !== undefined && !how) throw new UsageError(`--how is one of ${HOWS.join(", ")}`);
  const { dir, name } = parse(file);
  const out = resolve(cwd, textOf(flags, "--out") ?? join(dir, `${name}.out.jsonl`));
  const errors = join(parse(out).dir, `${parse(out).name.replace(/\.out$/, "")}.errors.jsonl`);
  if ([out, errors].includes(file)) throw new UsageError("--out must be another file than the input");
  const folder = join(home.folder, "batch-runs", await digestOf(file, [endpoint, model ?? ""]));
  return {
    ...{ file, folder, out, errors, endpoint },
    ...(model !== undefined && { model }),
    ...(budget !== undefined && { budget: readAmount(budget, "--budget") }),
    ...(how && { how }),
  };
}

/** Of what decides the results. Whether lines run in their order, and for how much money, may change between two starts. */
async function digestOf(file: string, facts: readonly string[]): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(facts));
  for await (const chunk of bytesOf(file)) hash.update(chunk);
  return hash.digest("hex").slice(0, 24);
}

/** The most that the lines can cost. @throws UsageError for an input with faults */
async function mostOf(wanted: Wanted, context: Context): Promise<Nano | undefined> {
  const { endpoint, file, budget } = wanted;
  const prices = await modelPrices(context);
  const { models, faults } = await priceLines(completeLines(bytesOf(file), wanted), {
    ...{ endpoint, models: [] },
    ...prices,
  });
  if (faults.length > 0) {
    const said = faults.map(
      ({ line, message }) => `  ${line === undefined ? "" : `line ${line}: `}${message}`,
    );
    throw new UsageError(`the input has faults, and nothing was run\n${said.join("\n")}`);
  }
  const sums = models.map(({ run: cost }) => cost?.most);
  const sum = sums.every((one) => one !== undefined) ? sums.reduce((a, b) => a + b, 0) : undefined;
  if (budget === undefined) return sum;
  return sum === undefined ? budget : Math.min(budget, sum);
}

/** @returns the batch when it has ended, or as it was when the user ended the command */
async function watched(
  gateway: OwnGateway,
  wanted: Wanted,
  most: Nano | undefined,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const progress = new ProgressLine();
  try {
    let batch = await begun(gateway);
    if (!batch && !signal.aborted) batch = await made(gateway, wanted);
    while (batch && !signal.aborted && !ENDS.includes(batch.status)) {
      progress.show(nowOf(batch, most));
      await Bun.sleep(POLL_MS);
      batch = await found(gateway, batch.id);
    }
    return batch;
  } finally {
    progress.clear();
  }
}

async function found(gateway: OwnGateway, id: string): Promise<Found> {
  return (await (await gateway.ask(`/v1/batches/${id}`)).json()) as Found;
}

/** The batch of the start before. The folder has one alone. */
async function begun(gateway: OwnGateway): Promise<Found | undefined> {
  const page = (await (await gateway.ask("/v1/batches?limit=1")).json()) as { data: Found[] };
  return page.data[0];
}

async function made(gateway: OwnGateway, wanted: Wanted): Promise<Found> {
  const { folder, endpoint, file } = wanted;
  const input = join(folder, "input.jsonl");
  await writeTo(input, completeLines(bytesOf(file), wanted));
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", Bun.file(input), "input.jsonl");
  const sent = (await (await gateway.ask("/v1/files", { method: "POST", body: form })).json()) as {
    id: string;
  };
  rmSync(input, { force: true });
  const asked = await gateway.ask("/v1/batches", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input_file_id: sent.id, endpoint, completion_window: LONGEST_WINDOW }),
  });
  return (await asked.json()) as Found;
}

function costOf({ weir }: Found): Nano {
  return Math.round(Number(weir["cost"]) * 1e9);
}

function nowOf(batch: Found, most: Nano | undefined): Now {
  const { total, completed, failed } = batch.request_counts;
  const paused = batch.weir["paused"];
  return {
    ...{ lines: total, ended: completed + failed, failed, cost: costOf(batch) },
    ...(most !== undefined && { most }),
    ...(typeof paused === "string" && { paused }),
  };
}

function interrupted(batch: Found | undefined, context: Context): number {
  const { total = 0, completed = 0, failed = 0 } = batch?.request_counts ?? {};
  context.printError(
    `weir: interrupted behind ${completed + failed} of ${total} lines. The same command goes on, and pays no line twice: ${commandOf(context)}`,
  );
  return EXIT_INTERRUPTED;
}

function commandOf({ flags, words }: Context): string {
  const given = Object.entries(flags).flatMap(([name, value]) =>
    name === "--fresh" || value === undefined ? [] : value === true ? [name] : [name, value],
  );
  return ["weir batches run", words[0]!, ...given].join(" ");
}

async function report(
  gateway: OwnGateway,
  batch: Found,
  { out, errors }: Wanted,
  { print, printError, flags }: Context,
): Promise<number> {
  const { total, completed, failed } = batch.request_counts;
  const failures = new Failures();
  const copy = async (id: string | null, path: string, seen?: Failures) => {
    if (id === null) return rmSync(path, { force: true });
    const { body } = await gateway.ask(`/v1/files/${id}/content`);
    await writeTo(path, seen ? seen.pass(body!) : body!);
  };
  await copy(batch.output_file_id, out);
  await copy(batch.error_file_id, errors, failures);
  const cost = costOf(batch);
  const reasons = failures.counts;
  if (flags["--json"] === true) {
    const { status } = batch;
    const files = { out: completed > 0 ? out : null, errors: failed > 0 ? errors : null };
    print(
      JSON.stringify({ status, lines: total, completed, failed, reasons, costNano: cost, ...files }, null, 2),
    );
  } else {
    print(`${completed} of ${total} lines succeeded, ${failed} failed; cost: ${formatNano(cost)}`);
    for (const [reason, count] of Object.entries(reasons)) print(`  ${count} × ${reason}`);
    if (completed > 0) print(`answers: ${out}`);
    if (failed > 0) print(`failed lines: ${errors}`);
  }
  for (const { line, message } of batch.errors?.data ?? [])
    printError(`weir: ${line === null ? "" : `line ${line}: `}${message}`);
  return batch.status === "completed" && failed === 0 ? 0 : EXIT_FAILED;
}
