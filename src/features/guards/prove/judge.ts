/** Runs one cell, and says what does not hold in it. */
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { type Client, CLIENTS, type Read } from "./clients.ts";
import { PLAIN, type ProofGateway, providerOf } from "./gateway.ts";
import type { Cell } from "./matrix.ts";
import { nameOf } from "./matrix.ts";
import type { Got, Script } from "./provider.ts";
import { KINDS, type ValueKind } from "./values.ts";
import {
  type Part,
  patternOf,
  type Plant,
  type Planted,
  plantedIn,
  quoted,
  textOf,
  valuesOf,
  VARIANTS,
} from "./variants.ts";

export interface Failure {
  readonly cell: string;
  readonly what: string;
  readonly detail: string;
}

export interface Judged {
  readonly assertions: number;
  readonly failures: readonly Failure[];
  /** Values that may be nowhere. */
  readonly values: readonly string[];
}

/** Characters around a value in a long text. */
export interface Lengths {
  readonly long: number;
}

/** The same of a text that comes in pieces of few characters. */
const SHORT = 120;

/** What a client got. */
interface Answered {
  readonly status: number;
  readonly verdicts: string;
  readonly text: string;
  readonly read: Read;
}

const TOKEN = (label: string) => `PII_${label}_[a-z2-7]{8,13}(?:_\\d+)?`;

/** One call of a cell. */
interface Ask {
  readonly cell: Cell;
  readonly client: Client;
  readonly plant: Plant;
  readonly model: string;
  /** Tells calls apart. */
  readonly n: number;
}

/** The texts as the format has them: in blocks, or joined. */
function textsOf({
  cell,
  client,
  plant,
}: Pick<Ask, "cell" | "client" | "plant">): readonly (readonly Part[])[] {
  if (client.blocksAt.includes(cell.place)) return plant.blocks;
  return [plant.blocks.flatMap((block, at) => (at > 0 ? ["\n", ...block] : block))];
}

export class Judge {
  readonly #gateway: ProofGateway;
  readonly #lengths: Lengths;

  constructor(gateway: ProofGateway, lengths: Lengths) {
    this.#gateway = gateway;
    this.#lengths = lengths;
  }

  /** @param n of the cell in the proof */
  async judge(cell: Cell, n: number): Promise<Judged> {
    const client = CLIENTS.find(({ name }) => name === cell.client)!;
    const kind = KINDS.find(({ name }) => name === cell.kind)!;
    const variant = VARIANTS.find(({ name }) => name === cell.variant)!;
    const provider = providerOf(cell.client, cell.lane, n);
    const length = /^\d/.test(cell.delivery) ? SHORT : this.#lengths.long;
    const plantAt = (number: number) => variant.plant(valuesOf(kind, number, length));
    const guarded = {
      cell,
      client,
      plant: plantAt(2 * n),
      model: `${provider}/${cell.kind}-${cell.action}`,
      n: 2 * n,
    };
    const free = { ...guarded, plant: plantAt(2 * n + 1), model: `${provider}/${PLAIN}`, n: 2 * n + 1 };
    const checks = new Checks(nameOf(cell));
    await this.#guarded(guarded, kind, checks);
    await this.#free(free, checks);
    // What the model writes by itself is kept as it wrote it.
    const isKept = cell.action === "flag" || guarded.plant.isSaid === true;
    const values = isKept ? [] : plantedIn(guarded.plant.blocks).map(({ value }) => value);
    return { assertions: checks.count, failures: checks.failures, values };
  }

  async #guarded(ask: Ask, kind: ValueKind, checks: Checks): Promise<void> {
    const { cell, plant } = ask;
    const instead = insteadOf(cell.action, kind);
    const { value: answered, got } = await this.#send(ask, instead);
    const values = plantedIn(plant.blocks);
    const isSaid = plant.isSaid === true;
    if (cell.action === "block") {
      checks.that("nothing is sent", isSaid || got === undefined, got?.body ?? "");
      checks.that("the client is refused", answered.text.includes("The guard"), answered.text);
      checks.none("the client gets no value", answered.text, values);
      const isFirst = !isSaid || (cell.variant === "said alone" && cell.place === "text");
      if (isFirst) checks.that("the refusal is a status", answered.status === 400, String(answered.status));
      return;
    }
    checks.that("the answer is whole", answered.status === 200, answered.text);
    if (!got) return;
    if (cell.action !== "flag") checks.none("the provider gets no value", got.body, values);
    if (!isSaid) {
      checks.that(
        "the provider gets the texts",
        got.found.every((text) => text !== undefined),
        got.body,
      );
      if (cell.lane === "native")
        checks.that("all else goes on as it was", isSame(ask, got, instead), got.body);
    }
    this.#judgeAnswer(ask, answered, instead, checks);
    checks.that("the verdict is right", isVerdict(answered, ask), answered.verdicts);
  }

  #judgeAnswer(ask: Ask, { read }: Answered, instead: Instead, checks: Checks): void {
    const { cell, plant, client } = ask;
    if (!client.streams) return;
    const parts = plant.blocks.flatMap((block, at) => (at > 0 ? ["\n", ...block] : block));
    // What the caller wrote comes back; what the model wrote does not.
    const isRestored = cell.action === "flag" || (cell.action === "replace" && !plant.isSaid);
    const expected = patternOf(parts, (one) => (isRestored ? quoted(one.written) : instead(one)));
    const heard = cell.place === "tool-arguments" ? read.args : read.text;
    checks.that("the client reads the right text", new RegExp(`^${expected}$`, "u").test(heard), heard);
  }

  /** Without a guard all values are there: the proof can fail. */
  async #free(ask: Ask, checks: Checks): Promise<void> {
    const { plant, cell, client } = ask;
    const raw = ({ written }: Planted) => quoted(written);
    const { value: answered, got } = await this.#send(ask, raw);
    checks.that(
      "without the guard the provider gets the texts",
      got?.found.every((text) => text !== undefined) ?? false,
      answered.text,
    );
    if (!client.streams) return;
    const whole = plant.blocks.map((block) => textOf(block)).join("\n");
    const heard = cell.place === "tool-arguments" ? answered.read.args : answered.read.text;
    checks.that("without the guard the client reads the text", heard === whole, heard);
  }

  /** @param instead writes the expression of the text that replaces a value */
  #send(ask: Ask, instead: Instead): Promise<{ value: Answered; got: Got | undefined }> {
    const { cell, client, plant, model, n } = ask;
    const mark = `CELL ${n};`;
    const stream = cell.delivery !== "json";
    const size = /^\d/.test(cell.delivery) ? Number(cell.delivery) : Number.MAX_SAFE_INTEGER;
    const said = plant.blocks.map((block) => textOf(block)).join("\n");
    const script: Script = {
      looksFor: plant.isSaid ? [] : textsOf(ask).map((parts) => new RegExp(patternOf(parts, instead), "u")),
      ...{ says: said, inArguments: cell.place === "tool-arguments" },
      ...{ size, bytes: n % 6 === 0 ? 1 + (n % 40) : 0 },
    };
    const texts = plant.isSaid ? ["What do you say?"] : textsOf(ask).map((parts) => textOf(parts));
    const asked = { model, stream, mark, place: cell.place, texts };
    return this.#gateway.play(mark, script, async () => {
      const body = bodyOf(client.body(asked), plant);
      const { status, headers, said: text } = await this.#gateway.ask(client.path(asked), body);
      const events = status === 200 ? eventsIn(text) : [];
      const ending = /^: weir-guards (.*)$/m.exec(text)?.[1];
      const verdicts = ending ?? headers.get("x-weir-guards") ?? "";
      return { status, verdicts, text, read: client.read(events) };
    });
  }
}

type Instead = (planted: Planted) => string;

function insteadOf(action: Cell["action"], { label }: ValueKind): Instead {
  if (action === "replace") return () => TOKEN(label);
  if (action === "mask") return () => `\\[${label}\\]`;
  return ({ written }) => quoted(written);
}

/** Counts what was asserted, and keeps what does not hold. */
export class Checks {
  readonly #cell: string;
  readonly failures: Failure[] = [];
  count = 0;

  constructor(cell: string) {
    this.#cell = cell;
  }

  that(what: string, holds: boolean, detail: string): void {
    this.count++;
    if (!holds) this.failures.push({ cell: this.#cell, what, detail: detail.slice(0, 1_000) });
  }

  none(what: string, text: string, values: readonly Planted[]): void {
    for (const { value, written } of values)
      for (const form of new Set([...formsOf(value), written]))
        this.that(what, !text.includes(form), `${form} in ${text}`);
  }
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** A value as texts of several formats can have it. */
export function formsOf(value: string): string[] {
  return [...new Set([value, inJson(value), inJson(inJson(value)), encodeURIComponent(value)])];
}

/** With escapes in place of the characters of each value, where the cell asks for it. */
function bodyOf(body: JsonObject, { blocks, isEscaped }: Plant): string {
  let text = JSON.stringify(body);
  if (isEscaped)
    for (const { written } of plantedIn(blocks))
      for (const form of [inJson(written), written]) text = text.replaceAll(inJson(form), escapes(form));
  return text;
}

function escapes(text: string): string {
  return text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Whether the provider got the client's request, but for values and the name of the model. */
function isSame({ client, plant, cell, model, n }: Ask, { body }: Got, instead: Instead): boolean {
  const texts = textsOf({ cell, client, plant });
  const asked = {
    model,
    stream: cell.delivery !== "json",
    mark: `CELL ${n};`,
    place: cell.place,
    texts: texts.map((parts) => textOf(parts)),
  };
  const parts = texts.map((text) => ({ written: textOf(text), pattern: patternOf(text, instead) }));
  const sent = { ...client.body(asked), model: undefined };
  const got = parseJson(body);
  const same = (one: Json | undefined, other: Json | undefined): boolean => {
    if (typeof one === "string" && typeof other === "string")
      return one === other || isChanged(one, other, parts);
    if (typeof one !== "object" || one === null || typeof other !== "object" || other === null)
      return one === other;
    const names = Object.keys(one);
    return (
      names.join() === Object.keys(other).join() &&
      names.every((name) => same((one as JsonObject)[name], (other as JsonObject)[name]))
    );
  };
  if (!isObject(got)) return false;
  // weir may ask for more, such as the usage of a stream.
  return Object.entries(withoutUndefined(sent)).every(([name, value]) => same(value, got[name]));
}

function withoutUndefined(body: object): JsonObject {
  return JSON.parse(JSON.stringify(body)) as JsonObject;
}

function isChanged(
  one: string,
  other: string,
  parts: readonly { written: string; pattern: string }[],
): boolean {
  const exactly = (pattern: string, text: string) => new RegExp(`^${pattern}$`, "u").test(text);
  if (parts.some(({ written, pattern }) => written === one && exactly(pattern, other))) return true;
  // Arguments as a text.
  const [before, after] = [parseJson(one), parseJson(other)];
  if (!isObject(before) || !isObject(after)) return false;
  return parts.some(
    ({ written, pattern }) =>
      before.to === written && typeof after.to === "string" && exactly(pattern, after.to),
  );
}

const VERDICTS = { replace: "replaced", mask: "masked", flag: "flagged", block: "blocked" } as const;

function isVerdict({ verdicts }: Answered, { cell, plant, client }: Ask): boolean {
  // A stream whose framing has no comments says only what was known when it began.
  if (plant.isSaid && cell.delivery !== "json" && !client.isSpoken) return true;
  const found = plantedIn(plant.blocks).length;
  const [verdict, count] = (/=([^,]*)/.exec(verdicts)?.[1] ?? "").split(":");
  if (verdict !== VERDICTS[cell.action]) return false;
  // Of what only is noted the answer has it once more.
  return cell.action === "flag" && client.streams ? Number(count) >= found : Number(count) === found;
}

/** The events of an answer in any framing; one for an answer that is no stream. */
export function eventsIn(text: string): JsonObject[] {
  const lines = text.trimStart().startsWith("{")
    ? text.split("\n")
    : [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data!);
  return lines.filter((line) => line.trim().startsWith("{")).map((line) => JSON.parse(line) as JsonObject);
}
