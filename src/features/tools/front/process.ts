/** The way to the process of the tools: it knows the config and what is approved before it is asked, and tells what it sees. */
import type { Lines } from "../../../core/lines.ts";
import type { Ask, Introduction, Piece, Watched } from "../asks.ts";
import type { Pins } from "../pins/pins.ts";
import type { SharedSeal } from "../seal/shared-seal.ts";

/** What the process learns of the store. */
interface Stored {
  readonly pins: Pins;
  readonly seal: SharedSeal;
}

export type AskTools = (ask: Ask, stop?: AbortSignal) => AsyncGenerator<Piece, void>;

export class ToolsProcess {
  readonly #lines: Lines<Ask, Piece>;
  readonly #stored: Stored;
  readonly #watched: (value: Watched) => void;
  #isReady = false;
  #isWatching = false;

  /** @param makeLines is given the introduction of this worker @param watched called with what the process tells */
  constructor(
    makeLines: (introduction: () => Introduction) => Lines<Ask, Piece>,
    introduction: () => Omit<Introduction, "pins">,
    stored: Stored,
    watched: (value: Watched) => void,
  ) {
    this.#stored = stored;
    const { pins } = stored;
    this.#watched = watched;
    this.#lines = makeLines(() => {
      const approved = pins.approvedOf();
      return { ...introduction(), ...(approved && { pins: approved }) };
    });
    pins.listen(() => this.introduce());
  }

  /** Whether it has been asked and has not ended since. */
  get isRunning(): boolean {
    return this.#isWatching;
  }

  introduce(): void {
    this.#lines.introduce();
  }

  /** Starts the process if it does not run. @throws ServiceError */
  readonly ask: AskTools = async function* (this: ToolsProcess, ask: Ask, stop?: AbortSignal) {
    if (!this.#isReady) await this.#ready();
    if (!this.#isWatching) void this.#watch();
    yield* this.#lines.ask(ask, stop);
  }.bind(this) as AskTools;

  /** Before the first ask the worker learns what is approved, and the key of the store. */
  async #ready(): Promise<void> {
    const { pins, seal } = this.#stored;
    await Promise.all([pins.ready(), seal.ready()]);
    this.#isReady = true;
    this.introduce();
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    try {
      for await (const piece of this.#lines.ask({ kind: "watch" }))
        if ("value" in piece) this.#watched(piece.value as Watched);
    } catch {
      // The process has ended: the next ask starts and watches it.
    } finally {
      this.#isWatching = false;
    }
  }
}

/** The only value of an answer. @throws Error if the process gives none */
export async function valueOf(pieces: AsyncGenerator<Piece, void>): Promise<unknown> {
  for await (const piece of pieces) if ("value" in piece) return piece.value;
  throw new Error("the process of the tools gave no answer");
}
