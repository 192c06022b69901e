/** Asks Presidio's analyzer where values such as names and places are: `POST /analyze` of presidio-analyzer. */
import { isObject } from "../../../core/json.ts";
import { apart } from "../detect/scan.ts";
import { type Answer, AskError, type AskedFinding, type Asker, type Batch } from "./asker.ts";
import { post } from "./post.ts";
import { toUtf16 } from "./units.ts";
import { kindOf } from "./words.ts";

const NAME = "Presidio";

export interface PresidioOptions {
  readonly url: string;
  /** Absent: all that it knows. */
  readonly entities?: readonly string[];
  readonly language: string;
  /** Least score, 0 to 1; absent: that of the service. */
  readonly over?: number;
}

export class Presidio implements Asker {
  readonly name = NAME;
  readonly #options: PresidioOptions;

  constructor(options: PresidioOptions) {
    this.#options = options;
  }

  async ask({ texts }: Batch, signal: AbortSignal): Promise<Answer> {
    const found = await Promise.all(texts.map(({ text }, index) => this.#analyze(text, index, signal)));
    return { verdict: "pass", findings: found.flat() };
  }

  async #analyze(text: string, index: number, signal: AbortSignal): Promise<AskedFinding[]> {
    const { url, entities, language, over } = this.#options;
    const asked = {
      ...{ text, language },
      ...(entities && { entities }),
      ...(over !== undefined && { score_threshold: over }),
    };
    const answer = await post(
      {
        name: NAME,
        url: `${url.replace(/\/$/, "")}/analyze`,
        headers: {},
        body: Buffer.from(JSON.stringify(asked)),
      },
      signal,
    );
    if (!Array.isArray(answer)) throw new AskError(`the answer of ${NAME} is no list`);
    // Its recognisers may see several values in one place.
    return apart(answer.map((one: unknown) => findingOf(one, text, index)));
  }
}

/** Presidio counts code points. */
function findingOf(found: unknown, text: string, index: number): AskedFinding {
  const { start, end, entity_type: type } = isObject(found) ? found : {};
  const from = toUtf16(text, start, "codepoint");
  const to = toUtf16(text, end, "codepoint");
  if (from === undefined || to === undefined || from >= to)
    throw new AskError(`a finding of ${NAME} has a range that is none in its text`);
  return { index, start: from, end: to, kind: kindOf(type) };
}
