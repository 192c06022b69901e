/** The lines of one batch that go by batches of their providers: gathers them, and gives them to these. */
import type { Target } from "../../../core/provider.ts";
import type { Plan, Prepared } from "../../../gateway/lanes/carrier.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Journal } from "../journal/journal.ts";
import { rangesOf } from "../journal/subs.ts";
import type { Ends } from "../run/ends.ts";
import { type HostLine, keyOf } from "./host.ts";
import { type FoundHost, hostOf, type HostSetting } from "./hosts.ts";
import { Pace } from "./pace.ts";
import { SubBatch, type SubOptions, type Way } from "./sub-batch.ts";
import { type Outcome, Ticket, type TicketDesk } from "./ticket.ts";

/** Lines that enter at the same time: each is read, screened and translated. */
const ENTERING = 64;
/** Lines whose calls wait for answers, and bytes of their requests. */
const MOST_OPEN = 50_000;
const MOST_BYTES = 128 * 1024 * 1024;
/** Lines with an answer that is not written yet: each holds its answer and the text of its result. */
const ANSWERED = 256;
/** Nothing has come for so long: what is gathered goes out. Milliseconds. */
const CALM_MS = 500;

export interface NativeSettings {
  readonly how: "native" | "run" | "auto";
  /** Seconds. */
  readonly poll: number;
  readonly native: Readonly<Record<string, HostSetting>>;
  /** How often a line goes into a further batch that its provider has refused for now. */
  readonly retries: number;
}

export interface NativeOptions extends Pick<SubOptions, "journal" | "leased" | "durably" | "made"> {
  readonly batch: string;
  readonly ends: Ends;
  readonly settings: NativeSettings;
}

/** A line that waits for its batch to be created. */
interface Gathered {
  readonly ticket: Ticket;
  readonly body: Uint8Array;
}

interface Group {
  readonly way: Way;
  readonly found: FoundHost;
  lines: Gathered[];
  bytes: number;
}

/** Ids of batches of providers, of all batches that this process runs. */
const known = new Set<string>();

export class NativeRun implements TicketDesk {
  readonly #options: NativeOptions;
  #subs: SubBatch[];
  readonly #groups = new Map<string, Group>();
  /** By the name of the model as lines have it: whether a batch of a provider takes them. */
  readonly #models = new Map<string, boolean>();
  readonly #tickets = new Map<Ticket, { readonly model: string; readonly bytes: number }>();
  readonly #targets = new Map<Ticket, Target>();
  readonly #answered = new Set<Ticket>();
  #waiting: (() => void)[] = [];
  #written: (() => void)[] = [];
  #bytes = 0;
  #entering = 0;
  #isRead = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: NativeOptions) {
    this.#options = options;
    this.#subs = options.journal.subs.all().map((sub) => new SubBatch(sub, this.#subOptions(sub.provider)));
    const { enough, left, cut } = options.ends;
    enough.addEventListener("abort", () => this.#enough());
    left.addEventListener("abort", () => this.#giveUp("left"));
    cut.addEventListener("abort", () => this.#giveUp("lost"));
    this.#enough();
  }

  /** A batch of a provider has the line, and perhaps its answer. */
  holds(line: number): boolean {
    return this.#subOf(line) !== undefined;
  }

  /** The batch of a provider that has the line: of several, each later one has tried it again. */
  #subOf(line: number): SubBatch | undefined {
    return this.#subs.findLast((sub) => sub.has(line));
  }

  /** @returns undefined: weir runs the line */
  async ticket({ number, model, body }: { number: number; model: string; body: Uint8Array }) {
    const isHeld = this.holds(number);
    const isTaken = this.#models.get(model);
    if (!isHeld && (this.#options.settings.how === "run" || isTaken === false)) return undefined;
    if (!isHeld && this.#options.ends.enough.aborted) return undefined;
    await this.#room();
    const ticket = new Ticket(number, !isHeld && isTaken === undefined, this);
    this.#tickets.set(ticket, { model, bytes: body.length });
    this.#bytes += body.length;
    this.#entering++;
    return ticket;
  }

  /** The line has ended. */
  done(ticket: Ticket): void {
    const of = this.#tickets.get(ticket);
    if (!of) return;
    this.#tickets.delete(ticket);
    this.#targets.delete(ticket);
    this.#answered.delete(ticket);
    for (const go of this.#written.splice(0)) go();
    this.#bytes -= of.bytes;
    ticket.ends();
    this.changed(0);
  }

  /** No further line comes. */
  end(): void {
    this.#isRead = true;
    this.changed(0);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const sub of this.#subs) sub.giveUp("left");
  }

  takes(ticket: Ticket, plan: Plan): Target | undefined {
    const { model = "" } = this.#tickets.get(ticket) ?? {};
    const held = this.#subOf(ticket.line);
    const target = held ? targetOf(plan, held.sub.provider) : this.#targetIn(plan);
    if (!held) this.#models.set(model, target !== undefined);
    if (!target) return undefined;
    this.#targets.set(ticket, target);
    ticket.factor = this.#hostOf(target)?.factor;
    return target;
  }

  /** The only target of a plan, if its provider has batches for the format. */
  #targetIn({ choices, fallbacks, larger }: Plan): Target | undefined {
    const [choice] = choices;
    if (!choice || choices.length + fallbacks.length + larger.length > 1) return undefined;
    const { target } = choice;
    return this.#hostOf(target)?.host.formats.includes(target.format) ? target : undefined;
  }

  #hostOf({ provider, deployment }: Target): FoundHost | undefined {
    return hostOf(provider, deployment, this.#options.settings.native);
  }

  /** Resolves when there is room for the answer to another line. */
  async #answers(ticket: Ticket): Promise<void> {
    if (this.#tickets.has(ticket)) this.#answered.add(ticket);
    while (this.#answered.size >= ANSWERED) await new Promise<void>((resolve) => this.#written.push(resolve));
  }

  arrived(ticket: Ticket, prepared: Prepared): void {
    const target = this.#targets.get(ticket)!;
    const way = wayOf(prepared, target);
    const held = this.#subOf(ticket.line);
    if (held) {
      // The provider that has the line is configured no more.
      if (held.sub.provider !== target.deployment.name || !this.#hostOf(target)) return ticket.giveUp("lost");
      return held.take(ticket, way);
    }
    const found = this.#hostOf(target);
    if (!found) return ticket.giveUp("run");
    if (this.#options.ends.enough.aborted) return ticket.giveUp("unsent");
    this.#gather(ticket, bodyOf(prepared), way, found);
  }

  #gather(ticket: Ticket, body: Uint8Array, way: Way, found: FoundHost): void {
    const { target, path, headers } = way;
    const key = JSON.stringify([target.deployment.name, target.model, path, headers]);
    const { limits } = found.host;
    let group = this.#groups.get(key);
    if (group && (group.lines.length >= limits.lines || group.bytes + body.length > limits.bytes)) {
      this.#send(key, group);
      group = undefined;
    }
    if (!group) this.#groups.set(key, (group = { way, found, lines: [], bytes: 0 }));
    group.lines.push({ ticket, body });
    group.bytes += body.length;
  }

  #send(key: string, { way, found, lines }: Group): void {
    const { name } = way.target.deployment;
    this.#groups.delete(key);
    const { journal, batch } = this.#options;
    const sorted = lines.toSorted((a, b) => a.ticket.line - b.ticket.line);
    const k = journal.subs.next();
    const sub = new SubBatch(
      {
        ...{ t: "sub", k, lines: rangesOf(sorted.map(({ ticket }) => ticket.line)) },
        ...{ provider: name, mark: `${batch}-${k}`, at: Date.now() },
      },
      { ...this.#subOptions(name), host: found.host },
      sorted.map(({ ticket, body }): HostLine => ({ key: keyOf(ticket.line), body })),
    );
    this.#subs.push(sub);
    for (const { ticket } of sorted) sub.take(ticket, way);
  }

  /** @param provider name of the deployment, of which the settings know the provider */
  #subOptions(provider: string): SubOptions {
    const { settings, journal, leased, durably, made } = this.#options;
    const name = provider.split("/")[0]!;
    const { host } = hostOf({ name }, {}, settings.native) ?? {};
    return {
      // A provider that is configured no more gets no lines.
      ...{ journal, leased, durably, made, known, host: host! },
      gone: (gone) => (this.#subs = this.#subs.filter((sub) => sub !== gone)),
      ...{ pace: new Pace(settings.poll * 1_000), mayRun: settings.how !== "native" },
      answered: (ticket) => this.#answers(ticket),
      mayRetry: (line) => !this.#options.ends.enough.aborted && this.#triesOf(line) <= settings.retries,
    };
  }

  /** Batches of providers that had the line: journals know them, so a runner that ends counts no try twice. */
  #triesOf(line: number): number {
    return this.#subs.filter((sub) => sub.began(line)).length;
  }

  changed(lines: number): void {
    this.#entering += lines;
    if (this.#hasRoom) for (const go of this.#waiting.splice(0)) go();
    clearTimeout(this.#timer);
    if (this.#groups.size > 0) this.#timer = setTimeout(() => this.#calm(), CALM_MS);
  }

  /** What is gathered goes out, if nothing more can join it. */
  #calm(): void {
    if (this.#entering > 0 || (!this.#isRead && !this.#isFull)) return;
    for (const [key, group] of this.#groups) this.#send(key, group);
  }

  get #isFull(): boolean {
    return this.#tickets.size >= MOST_OPEN || this.#bytes >= MOST_BYTES;
  }

  get #hasRoom(): boolean {
    return !this.#isFull && this.#entering < ENTERING;
  }

  async #room(): Promise<void> {
    while (!this.#hasRoom && !this.#options.ends.enough.aborted)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #enough(): void {
    const { enough } = this.#options.ends;
    if (!enough.aborted) return;
    for (const go of this.#waiting.splice(0)) go();
    if (enough.reason !== "late" && enough.reason !== "cancelled") return this.#giveUp("left");
    for (const { lines } of this.#groups.values()) for (const { ticket } of lines) ticket.giveUp("unsent");
    this.#groups.clear();
    for (const sub of this.#subs) sub.cancel();
  }

  #giveUp(outcome: Outcome): void {
    for (const { lines } of this.#groups.values())
      for (const { ticket } of lines) ticket.giveUp(outcome === "lost" ? "unsent" : outcome);
    this.#groups.clear();
    for (const sub of this.#subs) sub.giveUp(outcome);
  }
}

/** The target of a deployment, or the first one, which then is another. */
function targetOf({ choices, fallbacks }: Plan, deployment: string): Target {
  const all = [choices, ...fallbacks].flat();
  return (all.find(({ target }) => target.deployment.name === deployment) ?? choices[0]!).target;
}

/** Headers that change what a body means. */
const MEANING = ["anthropic-beta", "anthropic-version"];

function wayOf({ url, headers }: Prepared, target: Target): Way {
  const { baseUrl } = target.deployment;
  return {
    target,
    path: url.startsWith(baseUrl) ? url.slice(baseUrl.length) : new URL(url).pathname,
    headers: Object.fromEntries(MEANING.flatMap((name) => (headers[name] ? [[name, headers[name]]] : []))),
  };
}

/** An answer of a batch is whole; a request for a stream would be refused. */
function bodyOf({ body, expects }: Prepared): Uint8Array {
  const bytes = body.length === 1 ? body[0]! : Buffer.concat(body);
  if (expects === "json") return bytes;
  const { stream, stream_options, ...rest } = JSON.parse(Buffer.from(bytes).toString()) as JsonObject;
  return Buffer.from(JSON.stringify(rest));
}
