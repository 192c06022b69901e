/** Whether all lines of a batch together fit the hard budgets of its owner, before the first one runs. */
import type { KeptFile, KeptFiles } from "../../core/kept-files.ts";
import type { Principal } from "../../core/principal.ts";
import type { RequestSize } from "../../core/ledger.ts";
import type { GatewayError } from "../../core/error.ts";
import type { Format } from "../../core/format.ts";
import type { WorkerHost } from "../../gateway/seams.ts";
import type { Nano } from "../../ledger/money.ts";
import type { Need } from "./waiting.ts";
import { checkLine, isFault } from "./lines/check-line.ts";
import { readLines } from "./lines/read-lines.ts";
import { lineSizer } from "./lines/size-line.ts";
import { aboveBudget } from "./shapes/errors.ts";

export interface AdmitSettings {
  readonly admit: "fit" | "lines";
  readonly discount: number;
  readonly outputShare: number;
}

/** What says the cost of a line, and what budgets have left. */
export type Costs = Pick<WorkerHost, "bound" | "ledger">;

export interface Asked {
  readonly endpoint: string;
  readonly input: KeptFile;
}

/**
 * What the lines that wait may need.
 * @returns undefined: they are added up when they are checked, after the answer to the client, or are not held to a sum
 * @throws GatewayError if the books cannot be read
 */
export type Foresee = (asked: Asked, principal: Principal | undefined) => Promise<Need[] | undefined>;

/** Larger inputs are added up when they are checked, after the answer to the client. Bytes. */
const AT_ONCE_BYTES = 4 * 1024 * 1024;
/** Lines between which calls of clients have their turn. */
const SLICE = 100;

/** See {@link Foresee}. */
export async function foresee(
  asked: Asked,
  principal: Principal | undefined,
  files: KeptFiles,
  costs: Costs,
  settings: AdmitSettings,
): Promise<Need[] | undefined> {
  if (asked.input.bytes > AT_ONCE_BYTES) return undefined;
  return needsOf(asked, principal, files, costs, settings);
}

export function sayExcess({ needed, left, isTold }: Need): GatewayError {
  return aboveBudget(needed, isTold ? left : undefined);
}

/**
 * Adds up what the lines may cost, for each hard budget those that it counts. A line that its own check or the gateway would refuse
 * costs nothing.
 * @returns undefined if the lines are not held to a sum @throws GatewayError if the books cannot be read
 */
export async function needsOf(
  { endpoint, input }: Asked,
  principal: Principal | undefined,
  files: KeptFiles,
  { bound, ledger }: Costs,
  { admit, discount, outputShare }: AdmitSettings,
): Promise<Need[] | undefined> {
  if (admit === "lines") return undefined;
  const budgets = await ledger.budgetsLeft?.();
  if (!budgets || budgets.size === 0) return undefined;
  const { formats } = await loadFormats();
  const sizeOfLine = lineSizer(formats, endpoint);
  const ask = { ...asksAt(formats, endpoint), principal, outputShare, discount };
  const sums = new Map<string, Nano>();
  for await (const { number, bytes } of readLines(files.read(input))) {
    const line = checkLine(bytes, number, { endpoint });
    if (isFault(line)) continue;
    const { model } = line;
    const size = sizeIn(sizeOfLine, bytes.subarray(line.bodyStart, line.bodyEnd));
    // A model that nothing serves, or that the key may not use, is an error of the line.
    const found = size && (await bound({ ...ask, model, size }).catch(() => undefined));
    if (found?.cost !== undefined)
      for (const id of found.budgets) sums.set(id, (sums.get(id) ?? 0) + found.cost);
    if (number % SLICE === 0) await Bun.sleep(0);
  }
  return [...budgets].flatMap(([budget, { left, isTold }]) => {
    const needed = sums.get(budget) ?? 0;
    return needed > 0 ? [{ budget, needed, left, isTold }] : [];
  });
}

function sizeIn(sizeOfLine: (body: Uint8Array) => RequestSize, body: Uint8Array): RequestSize | undefined {
  try {
    return sizeOfLine(body);
  } catch {
    return undefined;
  }
}

/** The format of the lines, as the gateway plans their calls. */
function asksAt(formats: readonly Format[], endpoint: string): { format: string; embeds: boolean } {
  const embeds = /embed/i.test(endpoint);
  const format = formats.find(({ client }) =>
    embeds
      ? client?.beside.embeds?.some(({ path }) => path === endpoint) ||
        client?.routes.address?.modelOf(endpoint) !== undefined
      : client?.routes.path === endpoint || client?.routes.address?.modelOf(endpoint) !== undefined,
  );
  const [first] = format?.client?.beside.embeds ?? [];
  return { format: (embeds ? first?.dialect : format?.id) ?? "", embeds };
}

let loaded: Promise<{ formats: readonly Format[] }> | undefined;

export function loadFormats(): Promise<{ formats: readonly Format[] }> {
  return (loaded ??= import("../../run/formats.ts").then(({ builtInFormats }) => ({
    formats: builtInFormats({ systemTurns: "accept" }),
  })));
}
