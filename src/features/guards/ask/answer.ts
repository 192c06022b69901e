/** Asks about the texts of one answer, and does what the verdicts say. */
import type { GatewayError } from "../../../core/error.ts";
import type { Guard } from "../guard.ts";
import type { Passing } from "../pass/passing.ts";
import { viewOf } from "../pass/view.ts";
import { BlockedError, type Value } from "../verdicts.ts";
import { type Asked, unavailable } from "./asked.ts";
import type { Answer, AskedText } from "./asker.ts";
import type { Said } from "./said.ts";

/** Kinds that the request brought, or that are no words. */
const NOT_SAID = new Set(["system", "name", "media", "logprobs"]);

export class Answering {
  readonly guard: Guard;
  readonly #asked: Asked;
  readonly #passing: Passing;
  /** Characters of each piece that were asked about before. */
  readonly #overlap: number;
  #isOver = false;

  constructor(guard: Guard, asked: Asked, passing: Passing) {
    this.guard = guard;
    this.#asked = asked;
    this.#passing = passing;
    this.#overlap = guard.overlap;
  }

  /** Whether it may end an answer before anything of it has gone on. */
  get blocks(): boolean {
    const { mode, action } = this.guard;
    return mode !== "after" && (action !== "flag" || !this.#asked.passes);
  }

  /** Whether it keeps all of an answer back. */
  get holds(): boolean {
    return this.guard.mode === "hold";
  }

  /** Whether it asks about a text. */
  reads(said: Pick<Said["of"], "kind" | "fixed">): boolean {
    const isRead = this.guard.readsAnswer(said) && !said.fixed && !NOT_SAID.has(said.kind);
    return isRead && !(this.#asked.isProse && said.kind === "other");
  }

  /**
   * Asks about all that is news, and lets go on what may.
   * @param isFinal no more of the answer follows
   * @returns the error if the answer must end here
   */
  async ask(all: readonly Said[], isFinal: boolean): Promise<GatewayError | undefined> {
    const texts = all.filter((said) => (isFinal ? said.free < said.text.length : said.isNews));
    if (texts.length === 0 || this.#isOver) return release(texts);
    const from = texts.map(({ free, asked }) => Math.max(0, Math.min(free, asked - this.#overlap)));
    const pieces = texts.map((said, at) => new Piece(said, from[at]!, isFinal));
    const { facts, call, registry, verdicts } = this.#passing;
    const startedAt = performance.now();
    const answers = await this.#asked.ask({
      ...{
        phase: "output",
        call: this.#asked.factsFor(facts, call.headers),
        texts: pieces.map(({ asked }) => asked),
      },
      ...{ images: [], tools: [], final: isFinal, parent: call, registry },
    });
    verdicts.ran(this.guard, "output", performance.now() - startedAt);
    if (!answers) return this.#unable(texts);
    if (this.guard.mode === "window" && !isFinal && answers.some(({ holds }) => !holds))
      return this.#unable(texts);
    for (const answer of answers) {
      const error = this.#heed(answer, pieces);
      if (error) return error;
    }
    for (const [at, piece] of pieces.entries()) piece.said.release(edgeOf(answers, at, piece));
    return undefined;
  }

  /** There is no verdict. @returns undefined: the answer goes on without one */
  #unable(texts: readonly Said[]): GatewayError | undefined {
    this.#passing.verdicts.unavailable(this.guard, "output");
    return this.#asked.passes ? release(texts) : unavailable(this.guard.name);
  }

  /** Logprobs that spell a replaced text have gone with it. */
  loseLogprobs(): void {
    this.#passing.verdicts.loseLogprobs();
  }

  /** The answer has content that weir cannot read. */
  unread({ kind, fixed }: Said["of"]): void {
    this.#passing.verdicts.unread(this.guard, fixed ?? kind);
  }

  /** The answer ends without another verdict. */
  stop(): void {
    this.#isOver = true;
  }

  #heed({ verdict, kind = "verdict", findings }: Answer, pieces: readonly Piece[]): GatewayError | undefined {
    const { guard } = this;
    const { verdicts } = this.#passing;
    if (verdict === "block" && guard.action !== "flag") return verdicts.judged(guard, "output", kind);
    if (verdict !== "pass") verdicts.flagged(guard, "output", kind);
    for (const { index, start, end, kind: found, replacement } of findings) {
      const { said, asked, at: place } = pieces[index]!;
      const at = { start: place(start), end: place(end) };
      if (!said.learns(at.start, at.end, found)) continue;
      const value = { kind: found, normal: asked.text.slice(start, end) };
      const isBlocked = guard.action === "block" && replacement === undefined;
      const text = this.#substitute(value, replacement);
      const stays = isBlocked || text === undefined || !said.replace({ ...at, text });
      const does = replacement === undefined ? undefined : "masked";
      const verdictOf = stays && !isBlocked ? "flagged" : does;
      verdicts.note(guard, "output", value, said.of.path, verdictOf);
      if (isBlocked) return new BlockedError(guard, found);
    }
    return undefined;
  }

  /** @returns undefined: the value stays */
  #substitute({ kind, normal }: Value, replacement: string | undefined): string | undefined {
    if (this.guard.action === "flag") return undefined;
    if (replacement !== undefined) return replacement;
    if (this.guard.action === "replace") return this.#passing.map.tokenFor(kind, normal);
    return this.guard.action === "mask" ? `[${kind}]` : undefined;
  }
}

function release(texts: readonly Said[]): undefined {
  for (const said of texts) said.release(said.text.length);
}

/** A piece of a text, as services read it: without the escapes of JSON. */
class Piece {
  readonly said: Said;
  readonly asked: AskedText;
  /** Position in the whole text. */
  readonly at: (position: number) => number;
  /** No more text followed when it was asked about. */
  readonly isLast: boolean;

  constructor(said: Said, from: number, isFinal: boolean) {
    const { kind, path, isJson } = said.of;
    const given = said.text.slice(from);
    this.isLast = isFinal || said.isClosed;
    const view = isJson ? viewOf(given, this.isLast) : { text: given, at: (at: number) => at };
    this.said = said;
    this.at = (position) => from + view.at(position);
    this.asked = { kind, role: "assistant", path, text: view.text, ...(from > 0 && { from }) };
    said.asked = this.at(view.text.length);
  }
}

/** Up to where all answers let a text go on. @param index of the piece in the batch */
function edgeOf(answers: readonly Answer[], index: number, { said, at, isLast }: Piece): number {
  if (isLast) return said.asked;
  const held = answers.flatMap(({ holds }) => holds?.get(index) ?? []).map(at);
  return Math.min(said.asked, ...held);
}
