/** Checks the whole input of a batch in one pass, and notes where each line is. */
import { elementsOf, isSpace, scanBody } from "../../../stream/scan.ts";
import type { LineFault } from "../batch.ts";
import { BLANK, checkLine, type CheckedLine, isFault, type LineCheck } from "./check-line.ts";
import { IdsSeen } from "./ids-seen.ts";
import { type InputLine, LINE_BYTES, readLines } from "./read-lines.ts";

export interface InputCheck extends LineCheck {
  /** Lines that an input may have. */
  readonly lines: number;
  /** Bytes that a line may have; 8 MB if absent. */
  readonly lineBytes?: number;
  /** All lines must name one model. */
  readonly oneModel?: boolean;
  /** Lines may share a `custom_id`. */
  readonly sharedIds?: boolean;
  /** Further rules for a line without faults: whether the key may use the model, whether it fits a budget. */
  visit?(line: CheckedLine, body: Uint8Array, number: number): LineFault | undefined;
}

export interface CheckedInput {
  readonly lines: number;
  /** At most 100; the check ends with the hundredth. */
  readonly faults: readonly LineFault[];
  /** The place of line n is at index n - 1: bytes before it, and bytes of it. */
  readonly offsets: Float64Array;
  readonly lengths: Uint32Array;
  /** Number of lines by model. */
  readonly models: ReadonlyMap<string, number>;
}

/** Faults after which a check stops. */
export const MOST_FAULTS = 100;

/** Inputs that the lines of a batch of embeddings may have together. */
const MOST_EMBEDDED = 50_000;

/** @param chunks the bytes of a JSONL file @returns faults, never an error, whatever the bytes are */
export async function checkInput(
  chunks: AsyncIterable<Uint8Array>,
  check: InputCheck,
): Promise<CheckedInput> {
  const checker = new InputChecker(check);
  for await (const line of readLines(chunks, { line: check.lineBytes ?? LINE_BYTES }))
    if (!checker.take(line)) break;
  return checker.end();
}

class InputChecker {
  readonly #check: InputCheck;
  readonly #ids = new IdsSeen();
  readonly #faults: LineFault[] = [];
  readonly #models = new Map<string, number>();
  #places = { offsets: new Float64Array(1024), lengths: new Uint32Array(1024) };
  #lines = 0;
  #embedded = 0;

  constructor(check: InputCheck) {
    this.#check = check;
  }

  /** @returns whether the check goes on */
  take(line: InputLine): boolean {
    // Blank lines at the end are no lines, so they wait for one that is not blank.
    if (!line.isTooLarge && line.bytes.every(isSpace)) return true;
    for (let number = this.#lines + 1; number < line.number && this.#goesOn; number++)
      this.#add({ code: "invalid_json_line", line: number, message: BLANK });
    if (line.number > this.#check.lines) {
      const message = `The input has more than ${this.#check.lines} lines.`;
      this.#add({ code: "too_many_tasks", line: line.number, message });
      return false;
    }
    this.#note(line);
    this.#add(this.#faultOf(line));
    return this.#goesOn;
  }

  get #goesOn(): boolean {
    return this.#faults.length < MOST_FAULTS;
  }

  #add(fault: LineFault | undefined): void {
    if (fault && this.#goesOn) this.#faults.push(fault);
  }

  end(): CheckedInput {
    if (this.#lines === 0 && this.#faults.length === 0)
      this.#add({ code: "empty_file", message: "The input has no lines." });
    return {
      lines: this.#lines,
      faults: this.#faults,
      offsets: this.#places.offsets.slice(0, this.#lines),
      lengths: this.#places.lengths.slice(0, this.#lines),
      models: this.#models,
    };
  }

  #faultOf({ number, bytes, isTooLarge }: InputLine): LineFault | undefined {
    const most = this.#check.lineBytes ?? LINE_BYTES;
    if (isTooLarge)
      return { code: "line_too_large", line: number, message: `The line has more than ${most} bytes.` };
    const checked = checkLine(bytes, number, this.#check);
    if (isFault(checked)) return checked;
    const body = bytes.subarray(checked.bodyStart, checked.bodyEnd);
    return (
      this.#idFault(checked, number) ??
      this.#modelFault(checked, number) ??
      this.#embeddedFault(body, number) ??
      this.#check.visit?.(checked, body, number)
    );
  }

  #idFault({ customId }: CheckedLine, line: number): LineFault | undefined {
    if (this.#check.sharedIds || this.#ids.add(customId)) return undefined;
    const message = `An earlier line has the \`custom_id\` ${JSON.stringify(customId)}.`;
    return { code: "duplicate_custom_id", line, message, param: "custom_id" };
  }

  #modelFault({ model }: CheckedLine, line: number): LineFault | undefined {
    this.#models.set(model, (this.#models.get(model) ?? 0) + 1);
    const [first] = this.#models.keys();
    if (!this.#check.oneModel || model === first) return undefined;
    const message = `The lines of this batch must name one model, and the first one names ${JSON.stringify(first)}.`;
    return { code: "model_mismatch", line, message, param: "body.model" };
  }

  #embeddedFault(body: Uint8Array, line: number): LineFault | undefined {
    if (!this.#check.endpoint.endsWith("/embeddings")) return undefined;
    const before = this.#embedded;
    this.#embedded += inputsIn(body);
    if (before > MOST_EMBEDDED || this.#embedded <= MOST_EMBEDDED) return undefined;
    const message = `The lines have more than ${MOST_EMBEDDED} inputs together.`;
    return { code: "too_many_tasks", line, message, param: "body.input" };
  }

  #note({ number, offset, length }: InputLine): void {
    const { offsets, lengths } = this.#places;
    if (number > offsets.length) {
      this.#places = { offsets: new Float64Array(2 * number), lengths: new Uint32Array(2 * number) };
      this.#places.offsets.set(offsets);
      this.#places.lengths.set(lengths);
    }
    this.#places.offsets[number - 1] = offset;
    this.#places.lengths[number - 1] = length;
    this.#lines = number;
  }
}

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;

/** The number of texts that a request wants embedded; a list of numbers is one text. */
function inputsIn(body: Uint8Array): number {
  const input = scanBody(body, Infinity).members.get("input");
  if (!input || body[input.start] !== OPEN_BRACKET) return 1;
  let count = 0;
  for (const { start } of elementsOf(body, input))
    if (body[start] === QUOTE || body[start] === OPEN_BRACKET) count++;
  return Math.max(1, count);
}
