/** The answers of one session: which of them are held for, asked for, running. */
import { GatewayError } from "../../../core/error.ts";
import type { Usage } from "../../../core/events.ts";
import type { TurnSize } from "../../../gateway/sessions.ts";

/** One answer, with its hold. */
export interface BookedTurn {
  readonly isOver: boolean;
  sent(): void;
  began(id?: string): void;
  complete(usage: Usage): void;
  refused(error: GatewayError): void;
  cut(error: GatewayError): void;
}

/** What a session books its answers with. */
export interface TurnBooks {
  /** @throws GatewayError if a budget or a limit refuses it */
  turn(size: TurnSize): Promise<BookedTurn>;
  unheld(model?: string): BookedTurn;
}

interface Asked {
  readonly turn: BookedTurn;
  /** `event_id` of the client's event, if it has one. */
  readonly event: string | undefined;
  /** It reads the conversation, and its answer belongs to it. */
  readonly isInConversation: boolean;
}

export class Turns {
  /** Asked for, and not begun. */
  readonly #asked: Asked[] = [];
  /** Running, by the provider's id. */
  readonly #running = new Map<string, Asked>();
  /** Held for what the user is saying. */
  #spare: BookedTurn | undefined;
  #transcript: BookedTurn | undefined;

  constructor(private readonly books: TurnBooks) {}

  get running(): number {
    return this.#running.size;
  }

  get isIdle(): boolean {
    return this.#running.size + this.#asked.length === 0;
  }

  get runningIds(): readonly string[] {
    return [...this.#running.keys()];
  }

  get hasSpare(): boolean {
    return this.#spare !== undefined;
  }

  get hasTranscript(): boolean {
    return this.#transcript !== undefined;
  }

  /** Holds for an answer that the client asks for. @throws GatewayError */
  async ask(size: TurnSize, event: string | undefined, isInConversation: boolean): Promise<void> {
    const turn = await this.books.turn(size);
    turn.sent();
    this.#asked.push({ turn, event, isInConversation });
  }

  /** Holds for an answer to what the user is saying. @throws GatewayError */
  async spare(size: TurnSize): Promise<void> {
    this.#spare = await this.books.turn(size);
  }

  /** Gives the hold back. */
  dropSpare(): void {
    this.#spare?.cut(unused());
    this.#spare = undefined;
  }

  /** Holds for the transcription of what the user is saying. @throws GatewayError */
  async transcript(size: TurnSize): Promise<void> {
    this.#transcript = await this.books.turn(size);
  }

  /** The provider begins an answer. */
  began(id: string): void {
    const asked = this.#asked.shift() ?? {
      turn: this.#takeSpare(),
      event: undefined,
      isInConversation: true,
    };
    asked.turn.began(id);
    this.#running.set(id, asked);
  }

  #takeSpare(): BookedTurn {
    const turn = this.#spare ?? this.books.unheld();
    this.#spare = undefined;
    return turn;
  }

  /**
   * The provider has ended an answer.
   * @param usage undefined: it counted nothing @param failure why it failed
   * @returns whether the answer is part of the conversation
   */
  done(id: string, usage: Usage | undefined, failure: GatewayError | undefined): boolean {
    if (!this.#running.has(id)) this.began(id);
    const { turn, isInConversation } = this.#running.get(id)!;
    this.#running.delete(id);
    if (usage) turn.complete(usage);
    else if (failure) turn.refused(failure);
    else turn.cut(uncounted());
    return isInConversation;
  }

  /** The provider has transcribed. */
  transcribed(usage: Usage | undefined, model: string | undefined): void {
    if (!usage && !this.#transcript) return;
    const turn = this.#transcript ?? this.books.unheld(model);
    this.#transcript = undefined;
    turn.began();
    if (usage) turn.complete(usage);
    else turn.cut(uncounted());
  }

  /** The provider refuses an event of the client: perhaps one that asked for an answer. @param event its id, if it had one */
  refused(event: string | undefined, error: GatewayError): void {
    const at = this.#asked.findIndex((one) => one.event === event);
    if (at >= 0) this.#asked.splice(at, 1)[0]!.turn.refused(error);
  }

  /** The session is over: what runs is assumed, what was only held for costs nothing. */
  end(error: GatewayError): void {
    for (const { turn } of [...this.#running.values(), ...this.#asked]) turn.cut(error);
    this.#running.clear();
    this.#asked.length = 0;
    this.dropSpare();
    this.#transcript?.cut(unused());
    this.#transcript = undefined;
  }
}

function unused(): GatewayError {
  return new GatewayError("cancelled", "The session ended before the provider answered.");
}

function uncounted(): GatewayError {
  return new GatewayError("upstream", "The provider ended its answer without counts.", {
    code: "upstream_invalid_answer",
  });
}
