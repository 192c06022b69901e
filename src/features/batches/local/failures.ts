/** Why lines failed, counted while the file of errors is copied. */
import { isObject, parseJson } from "../../../core/json.ts";
import { readLines } from "../lines/read-lines.ts";

const LF = Uint8Array.of(0x0a);
/** Texts of providers may be long. Characters. */
const LONGEST = 120;

export class Failures {
  readonly #counts = new Map<string, number>();

  /** Hands the bytes on. */
  async *pass(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const { bytes } of readLines(chunks)) {
      const reason = reasonOf(Buffer.from(bytes).toString());
      this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
      yield Uint8Array.from(bytes);
      yield LF;
    }
  }

  /** The most frequent one first. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].toSorted(([, a], [, b]) => b - a));
  }
}

/** `insufficient_quota`; `400 no such model`. */
function reasonOf(line: string): string {
  const json = parseJson(line);
  if (!isObject(json)) return "unreadable";
  const { error, response } = json;
  if (isObject(error)) return String(error["code"]);
  if (!isObject(response)) return "unknown";
  const { status_code: status, body } = response;
  const said = isObject(body) && isObject(body["error"]) ? body["error"]["message"] : undefined;
  return typeof said === "string" ? `${String(status)} ${said.slice(0, LONGEST)}` : String(status);
}
