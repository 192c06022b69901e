/** Runs the lines of one batch: tries, waits, and notes in the journal. */
import type { Principal } from "../../../core/principal.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import type { Ending } from "../batch.ts";
import type { Booked } from "../booked.ts";
import type { Journal } from "../journal/journal.ts";
import type { Goal } from "../journal/record.ts";
import type { Run } from "../messages.ts";
import type { Outcome, Ticket } from "../native/ticket.ts";
import { isCut, isQuota, mayPass, messageOf, saysWhen, shownOf, usageOf, waitBehind } from "./answers.ts";
import { type Ends, Left } from "./ends.ts";
import type { InputLine } from "./input.ts";
import { askLine, type LineAnswer } from "./line-call.ts";
import { bookLost } from "./lost.ts";
import { answeredLine, type Unanswered, unansweredLine } from "./result.ts";
import type { LineSeal } from "./seal.ts";
import { sleep } from "./sleep.ts";
import type { Places } from "./places.ts";
import type { Slots } from "./slots.ts";

export interface LineRunOptions {
  readonly host: Pick<WorkerHost, "call">;
  readonly run: Run;
  /** The key may have been revoked since the line before. */
  caller(): Principal | undefined | "gone";
  /** Who is charged for a line, also when the key is revoked. */
  bookedTo(): Principal | undefined;
  readonly journal: Journal;
  readonly seal: LineSeal;
  readonly slots: Slots;
  readonly places: Places;
  readonly ends: Ends;
  readonly retries: number;
  /** A line that was cut, and that may be paid, is run once more. */
  readonly again: boolean;
  /** A line begins. */
  begins(): Promise<void>;
  /** Resolves while no other runner has the batch. @throws Left */
  leased(): Promise<void>;
  /** Repeats what the disk refuses. @throws Left */
  durably(write: () => Promise<void>): Promise<void>;
  /** A line has ended. */
  ended(): void;
}

type Charged = Pick<LineAnswer, "cost" | "usage">;

export class LineRun {
  readonly #options: LineRunOptions;
  /** Calls that run. */
  #calls = 0;
  /** Lines that wait for a call to end, and so for a part of their budget. */
  readonly #short: (() => void)[] = [];

  constructor(options: LineRunOptions) {
    this.#options = options;
  }

  /**
   * Has a place, and gives it back; a line for a batch of its provider has none, unless it is a probe.
   * @param tried number of the first try, from 1 @param isHeld a process that has ended held the part of budgets of this line
   * @throws Left, and Error of the gateway
   */
  async run(line: InputLine, tried: number, carried?: Ticket, isHeld = false): Promise<void> {
    const { slots, ends, places } = this.#options;
    let attempt = tried;
    /** Tries of this run that count. */
    let tries = 0;
    let ticket = carried;
    let hasPlace = !ticket || ticket.isProbe;
    const giveBack = (answer?: LineAnswer) => {
      if (hasPlace) slots.give(places.of(line), shownOf(answer));
      hasPlace = false;
    };
    ticket?.onTaken(() => {
      giveBack();
      // In front of the record of the batch that takes it. Without it the line is lost with the process, and not paid twice.
      if (carried?.isProbe) void this.#turned(line, attempt).catch(() => {});
    });
    // Without the note, a runner behind this one holds it once more.
    ticket?.onHeld(() => void this.#options.journal.held(line.number, attempt).catch(() => {}));
    try {
      await this.#options.begins();
      for (;;) {
        const principal = this.#options.caller();
        if (principal === "gone") return await this.unanswered(line, "key_gone", attempt);
        const answer = await this.#try(line, attempt, principal, ticket, isHeld && attempt === tried);
        if (ends.isLost) throw new Left();
        const { outcome } = ticket ?? {};
        const goesOn = outcome === undefined || (await this.#cameBack(line, outcome, attempt, answer));
        if (!goesOn) return;
        if (outcome === "again") ticket?.renew();
        else if (outcome !== undefined) ticket = undefined;
        const wait = outcome === undefined ? this.#waitBehind(answer, tries, ticket) : 0;
        giveBack(answer);
        if (wait === undefined) return await this.#answered(line, answer, attempt);
        await this.#note(line, attempt, "again", undefined, answer);
        attempt++;
        if (!saysWhen(answer)) tries++;
        if (wait === "a call") await this.#callEnds();
        else await sleep(wait, ends.enough);
        const isFree = ticket?.isTaken === true && !ends.enough.aborted;
        if (!isFree && !ends.enough.aborted) hasPlace = await slots.take(places.of(line), ends.enough);
        if (ends.left.aborted || ends.enough.reason === "fault") throw new Left();
        if (!hasPlace && !isFree) return await this.unanswered(line, ends.code, attempt);
      }
    } finally {
      giveBack();
      this.#short.shift()?.();
    }
  }

  /**
   * A try was cut, and the provider may have answered it. It is repeated if the books show that it was not paid, or if the config
   * permits that it is paid twice.
   * @param booked what the books have of it; undefined: nothing, and then it is booked as lost @throws Left
   */
  async cut(
    line: InputLine,
    attempt: number,
    booked?: Charged & Pick<Booked, "lost">,
  ): Promise<"again" | "ended"> {
    const charged = booked ?? (await this.#lost(line, attempt));
    if (this.#options.again || (booked && !booked.lost && isFree(booked))) {
      await this.#note(line, attempt, "again", undefined, charged);
      return "again";
    }
    await this.unanswered(line, "upstream_lost", attempt, charged);
    return "ended";
  }

  async #lost({ url, body, number }: InputLine, attempt: number): Promise<Charged> {
    const { host, run, ends, leased, bookedTo } = this.#options;
    await leased();
    const lost = await bookLost(
      host,
      {
        ...{ url, body, principal: bookedTo(), address: run.owner.address },
        ...{ batch: run.batch.id, line: { number, attempt: attempt - 1 } },
      },
      ends.left,
    );
    if (ends.isLost) throw new Left();
    return lost;
  }

  /** The line has come back from a batch of its provider without an answer. @returns whether weir runs it now @throws Left */
  async #cameBack(line: InputLine, outcome: Outcome, attempt: number, answer: LineAnswer): Promise<boolean> {
    if (outcome === "run" || outcome === "again") return true;
    if (typeof outcome === "object") throw outcome.fault;
    if (outcome === "left") {
      await this.#note(line, attempt, "again", undefined, answer);
      throw new Left();
    }
    const code = outcome === "unsent" ? this.#options.ends.code : CODES[outcome];
    await this.unanswered(line, code, attempt, answer);
    return false;
  }

  /** A try was cut whose line a batch of its provider has, or none: it may be made once more. */
  async resume(line: InputLine, attempt: number, booked?: Charged): Promise<void> {
    await this.#note(line, attempt, "again", undefined, booked);
  }

  /** The line ends without an answer of a provider. */
  async unanswered(
    line: InputLine,
    code: Unanswered,
    attempt = 1,
    charged?: Charged,
    message?: string,
  ): Promise<void> {
    const written = unansweredLine(line.customId, code, message);
    await this.#note(line, attempt, "err", written, charged, ENDINGS[code]);
    this.#options.ended();
  }

  async #try(
    line: InputLine,
    attempt: number,
    principal: Principal | undefined,
    carrier: Ticket | undefined,
    isHeld: boolean,
  ): Promise<LineAnswer> {
    const { host, run, journal, ends, leased, durably } = this.#options;
    const { id } = run.batch;
    const kind = carrier && !carrier.isProbe ? NATIVE : "weir";
    carrier?.begins();
    await leased();
    await durably(() => journal.start(line.number, attempt, `${kind}-${id}-${line.number}`));
    try {
      // A runner that takes the batch over later finds the start, and does not ask.
      await leased();
    } catch (left) {
      if (!ends.isLost) await this.#note(line, attempt, "again");
      throw left;
    }
    this.#calls++;
    try {
      return await askLine(host, {
        ...{ url: line.url, body: line.body, principal, address: run.owner.address },
        ...{ batch: id, line: { number: line.number, attempt: attempt - 1 } },
        ...{ signal: ends.cut, ...(carrier && { carrier }), ...(isHeld && { before: "goes on" }) },
      });
    } finally {
      carrier?.ends();
      this.#calls--;
    }
  }

  #turned({ number }: InputLine, attempt: number): Promise<void> {
    const { journal, run } = this.#options;
    return journal.turned(number, attempt, `${NATIVE}-${run.batch.id}-${number}`);
  }

  /** Resolves when another line has ended, for one line after the other. */
  #callEnds(): Promise<void> {
    return new Promise((resolve) => this.#short.push(resolve));
  }

  /** Milliseconds until the next try, or that the line waits for what others give back; undefined: the answer is the last one. */
  #waitBehind(answer: LineAnswer, tries: number, ticket?: Ticket): number | "a call" | undefined {
    const { ends, retries } = this.#options;
    if (ends.cut.aborted || (ends.left.aborted && isCut(answer))) return undefined;
    if (isQuota(answer)) return this.#calls > 0 ? "a call" : undefined;
    // A batch of the provider tries it again itself.
    if (ticket?.isAnswered) return undefined;
    const goesOn = saysWhen(answer) || (mayPass(answer) && tries < retries);
    return goesOn ? waitBehind(answer, tries) : undefined;
  }

  async #answered(line: InputLine, answer: LineAnswer, attempt: number): Promise<void> {
    const { ends } = this.#options;
    if (isQuota(answer))
      return this.unanswered(line, "insufficient_quota", attempt, answer, messageOf(answer));
    if (ends.left.aborted && isCut(answer)) return void (await this.cut(line, attempt, answer));
    if (ends.cut.aborted && answer.body.length === 0)
      return this.unanswered(line, ends.code, attempt, answer);
    const isDone = answer.status >= 200 && answer.status < 300;
    await this.#note(line, attempt, isDone ? "out" : "err", answeredLine(line.customId, answer), answer);
    this.#options.ended();
  }

  async #note(
    { number }: InputLine,
    attempt: number,
    to: Goal,
    result?: Uint8Array,
    charged?: Charged,
    ending?: Ending,
  ): Promise<void> {
    const { journal, seal, durably } = this.#options;
    const sealed = result ? seal.seal(result, number) : NOTHING;
    const facts = { ...(ending && { ending }), ...(charged && { usage: usageOf(charged) }) };
    await durably(() => journal.end(number, attempt, to, sealed, charged?.cost ?? 0, facts));
  }
}

const ENDINGS: Readonly<Record<Unanswered, Ending>> = {
  batch_expired: "late",
  batch_cancelled: "cancelled",
  insufficient_quota: "failed",
  upstream_lost: "failed",
  key_gone: "failed",
};

/** What a provider has not answered. */
const CODES: Readonly<Record<"expired" | "cancelled" | "lost", Unanswered>> = {
  expired: "batch_expired",
  cancelled: "batch_cancelled",
  lost: "upstream_lost",
};

/** In the journal: the try asks no provider before a record of a batch of that names it. */
export const NATIVE = "native";

/** Nothing was paid: neither with money nor, where prices are unknown, with tokens. */
function isFree({ cost, usage }: Charged): boolean {
  return cost === 0 && Object.values(usage).every((tokens) => tokens === 0);
}

const NOTHING = new Uint8Array();
