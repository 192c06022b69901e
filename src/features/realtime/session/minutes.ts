/** Sessions whose model has a price by the minute: each minute that begins is held for and booked. */
import { GatewayError } from "../../../core/error.ts";
import { NO_USAGE } from "../../../core/events.ts";
import type { Session } from "../../../gateway/sessions.ts";
import type { BookedTurn } from "./turns.ts";

const MINUTE_MS = 60_000;
const MINUTE = { minute: 1 };

export class MinuteMeter {
  readonly #session: Session;
  readonly #refused: (error: GatewayError) => void;
  #running: BookedTurn | undefined;
  #timer: Timer | undefined;
  #isOver = false;

  /** @param refused called when a minute is not admitted */
  constructor(session: Session, refused: (error: GatewayError) => void) {
    this.#session = session;
    this.#refused = refused;
  }

  start(): void {
    if (!this.#session.pricesUnits(MINUTE)) return;
    void this.#next();
    this.#timer = setInterval(() => void this.#next(), MINUTE_MS);
  }

  stop(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#book();
  }

  async #next(): Promise<void> {
    this.#book();
    try {
      const turn = await this.#session.turn({ input: 0, output: 0, units: MINUTE });
      turn.began();
      this.#running = turn;
      if (this.#isOver) this.#book();
    } catch (thrown) {
      this.#refused(GatewayError.from(thrown));
    }
  }

  #book(): void {
    this.#running?.complete({ ...NO_USAGE, units: MINUTE, known: "final" });
    this.#running = undefined;
  }
}
