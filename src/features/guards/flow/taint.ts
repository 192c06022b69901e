/**
 * The rule that holds certain tools back once untrusted text is in the conversation. It does not read the text:
 * what came since the last turn of the user decides.
 */
import { globMatches } from "../../../core/glob.ts";
import type { AnswerText, TextKind, TextPlace } from "../../../core/text-places.ts";
import type { Source } from "../declarations.ts";
import type { Guard } from "../guard.ts";
import type { HeldBack } from "../../../core/tool-screen.ts";
import { BlockedError, type Verdicts } from "../verdicts.ts";

/** Images and files may hold words as well. */
const KINDS_OF: Readonly<Record<Source, readonly TextKind[]>> = {
  "tool-results": ["tool-result"],
  documents: ["document", "media"],
};

/** The option `flow`. */
export interface FlowRule {
  readonly from: readonly Source[];
  /** Patterns of the names of tools. */
  readonly to: readonly string[];
}

/** The rule for one call. */
export class Taint {
  readonly #guard: Guard;
  readonly #rule: FlowRule;
  readonly #kinds: ReadonlySet<TextKind>;
  readonly #verdicts: Verdicts;
  /** Names of tools that come in pieces, by call. */
  readonly #names = new Map<string, string>();
  #isTainted = false;
  #hasJudged = false;

  constructor(guard: Guard, rule: FlowRule, verdicts: Verdicts) {
    this.#guard = guard;
    this.#rule = rule;
    this.#kinds = new Set(rule.from.flatMap((source) => KINDS_OF[source]));
    this.#verdicts = verdicts;
  }

  /** Reads a request. A turn of the user that has untrusted text beside its own words counts as one with it. */
  read(texts: Iterable<TextPlace>): void {
    let turn: string | undefined;
    let at: string | undefined;
    for (const text of texts) {
      const message = /^\w+\[\d+\]/.exec(text.path)?.[0] ?? "";
      if (this.#kinds.has(text.kind) && text.read() !== "") at = message;
      else if (text.kind === "text" && isOfUser(text) && message !== turn) {
        turn = message;
        if (at !== message) at = undefined;
      }
    }
    this.#isTainted = at !== undefined;
  }

  /** A tool that weir runs has a result. */
  hasResult(): void {
    this.#isTainted ||= this.#rule.from.includes("tool-results");
  }

  /** A model calls a tool that weir runs. @returns undefined: it may run */
  heldBack(tool: string): HeldBack | undefined {
    const pattern = this.#patternOf(tool);
    if (pattern === undefined) return undefined;
    const mayAsk = this.#guard.flow?.do === "approve";
    const verdict = mayAsk ? "flagged" : "blocked";
    this.#verdicts.note(this.#guard, "output", { kind: "TOOL", normal: tool }, "", verdict);
    return { mayAsk, error: this.#errorOf(pattern) };
  }

  /** Looks at a text of an answer. @returns the error if it calls a tool that it may not */
  refusal(text: AnswerText): BlockedError | undefined {
    if (!this.#hasJudged) this.#verdicts.ran(this.#guard, "output", 0);
    this.#hasJudged = true;
    if (this.#kinds.has(text.kind)) this.#isTainted ||= text.get() !== "";
    const { call, path } = text;
    if (call === undefined || !this.#isTainted) return undefined;
    const piece = text.get();
    const name = (this.#names.get(call) ?? "") + piece;
    this.#names.set(call, name);
    const pattern = this.#patternOf(name) ?? this.#patternOf(piece);
    if (pattern === undefined) return undefined;
    this.#verdicts.note(this.#guard, "output", { kind: "TOOL", normal: name }, path);
    return this.#errorOf(pattern);
  }

  #errorOf(pattern: string): BlockedError {
    const why = `refused the answer: it calls a tool of ${JSON.stringify(pattern)} after untrusted text.`;
    return new BlockedError(this.#guard, "TOOL", undefined, why);
  }

  #patternOf(tool: string): string | undefined {
    return this.#isTainted ? this.#rule.to.find((pattern) => globMatches(pattern, tool)) : undefined;
  }
}

function isOfUser({ role, path }: TextPlace): boolean {
  return role === "user" || (role === undefined && /^(input|prompt)$/.test(path));
}
