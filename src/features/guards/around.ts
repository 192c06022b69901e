/** Guards around calls: of all places the outermost, so that all that is further inwards has what they hand on. */
import type { AnswerNotes } from "../../core/answer-notes.ts";
import { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { ClientCodec } from "../../core/format.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { UpstreamTimeouts } from "../../core/provider.ts";
import { Clock } from "../../gateway/delivery/clock.ts";
import { describeError } from "../../gateway/delivery/settle.ts";
import type { Opened } from "../../gateway/lanes/lane.ts";
import { type Edited, Entry, type Seams } from "../../gateway/seams.ts";
import type { TextPlaces } from "../../core/text-places.ts";
import type { Principal } from "../../core/principal.ts";
import { addedTo, noteRemoval } from "./added.ts";
import { toolScreen } from "../../core/tool-screen.ts";
import { guardAsked } from "./flow/asked.ts";
import { modelsOf } from "./flow/models.ts";
import { Screen } from "./flow/screen.ts";
import { Taint } from "./flow/taint.ts";
import { Rerouted, reroute } from "./flow/route.ts";
import type { Guard } from "./guard.ts";
import { guardAnswer } from "./pass/answer.ts";
import { factsOf, toolsOf } from "./ask/facts.ts";
import { verdictBeside } from "./ask/beside.ts";
import { stagesOf } from "./pass/stages.ts";
import { refusedAnswer } from "./pass/refusal.ts";
import type { Passing } from "./pass/passing.ts";
import { guardRequest } from "./pass/request.ts";
import { CallMap } from "./replace/call-map.ts";
import { shapedAnswer } from "./schema/shaped.ts";
import { openMap, sealMap } from "./replace/sealed.ts";
import { Tokens } from "./replace/restore.ts";
import { secretOf } from "./replace/token.ts";
import { BlockedError, Verdicts } from "./verdicts.ts";
import { foreseeGuards } from "./watch/foresee.ts";
import { type Tried, tryText } from "./watch/try.ts";

/** What guards use of the process that serves calls. */
interface Uses {
  /** The secret of the store, from which those of callers are derived. */
  root(): Promise<Uint8Array> | Uint8Array;
  readonly notes: AnswerNotes;
  /** What weir cannot read is refused. */
  readonly refusesUnread: boolean;
  readonly clock: Clock;
  readonly timeouts: UpstreamTimeouts;
}

/** For guards beside a gateway: no provider answers, and nothing is stored. */
export function usesBeside(root: Uses["root"], refusesUnread = false): Uses {
  const timeouts = { connectMs: Infinity, firstByteMs: Infinity, gapMs: Infinity, totalMs: Infinity };
  const notes: Pick<AnswerNotes, "keep" | "of"> = { keep: () => {}, of: () => [] };
  return { root, refusesUnread, timeouts, notes: notes as AnswerNotes, clock: new Clock() };
}

export class Guards {
  readonly #guards: readonly Guard[];
  readonly #uses: Uses;
  readonly #secrets = new Map<string, Uint8Array>();
  readonly #has = (name: string) => this.#guards.some((guard) => guard.name === name);

  constructor(guards: readonly Guard[], uses: Uses) {
    this.#guards = guards;
    this.#uses = uses;
  }

  /** A guard that leads the call to another model has done its work: the others look at the call once more. */
  async run(entry: Entry, next: (edited?: Edited) => Promise<Opened>): Promise<Opened> {
    const routed: Rerouted[] = [];
    noteRemoval(entry.call);
    for (;;)
      try {
        return await this.#run(entry, next, routed);
      } catch (thrown) {
        if (!(thrown instanceof Rerouted)) throw thrown;
        routed.push(thrown);
        await reroute(entry, thrown.guard);
      }
  }

  /** What the guards would do with a request that is explained. */
  readonly foresee: NonNullable<Seams["foresee"]> = async (incoming, registry) => {
    const entry = new Entry(incoming, { operation: "generate", registry });
    const client: Pick<ClientCodec, "facts"> = entry.format.client;
    const { places } = client.facts;
    noteRemoval(entry.call);
    if (!places || this.#for(entry).length === 0) return undefined;
    return foreseeGuards(entry, places, {
      guards: () => this.#for(entry),
      secret: await this.#secret(entry.call),
      refusesUnread: this.#uses.refusesUnread,
    });
  };

  /** What the guards make of a text, for any caller and any model. */
  async tryText(text: string): Promise<Tried> {
    return tryText(text, this.#guards, secretOf(await this.#uses.root(), "/"));
  }

  async #run(
    entry: Entry,
    next: (edited?: Edited) => Promise<Opened>,
    routed: readonly Rerouted[],
  ): Promise<Opened> {
    const done = routed.map(({ guard }) => guard);
    const guards = this.#for(entry).filter((guard) => !done.includes(guard));
    const client: Pick<ClientCodec, "facts" | "beside"> = entry.format.client;
    const { places } = client.facts;
    // Answers that continue stored ones, or read them, may have tokens that no guard of this call has made.
    const mayRestore = client.beside.stored !== undefined && this.#of(entry.call).length > 0;
    if (guards.length + done.length === 0 && !mayRestore) return next();
    if (entry.operation === "ask") return this.#ask(guards, entry, next);
    if (!places) return this.#unplaced(guards, entry, next);
    const secret = await this.#secret(entry.call);
    const ran = this.#guards.filter((guard) => done.includes(guard) || guards.includes(guard));
    const verdicts = new Verdicts(ran, entry.call, secret);
    for (const { guard, findings } of routed)
      for (const { path, ...value } of findings) verdicts.note(guard, "input", value, path);
    const { refusesUnread } = this.#uses;
    const { call, registry } = entry;
    const passing: Passing = {
      ...{ guards, map: new CallMap(secret), verdicts, refusesUnread, beside: [], call, registry },
      get facts() {
        return factsOf(call);
      },
      tools: (edited) => toolsOf(entry, edited?.body ?? entry.body),
    };
    const opened = await this.#pass(entry, places, passing, secret, next).catch((thrown: unknown) => {
      if (thrown instanceof BlockedError && thrown.as === "refusal" && entry.operation === "generate")
        return refusedAnswer(entry, thrown.message);
      if (!(thrown instanceof Rerouted)) (entry.call.extraHeaders ??= {})["x-weir-guards"] = verdicts.words();
      throw thrown;
    });
    const words = verdicts.words(opened.kind === "stream");
    if (words === "") return opened;
    return { ...opened, headers: { ...opened.headers, "x-weir-guards": words } };
  }

  async #pass(
    entry: Entry,
    places: TextPlaces,
    passing: Passing,
    secret: Uint8Array,
    next: (edited?: Edited) => Promise<Opened>,
  ): Promise<Opened> {
    const { call, bytes, format } = entry;
    const { guards, map, verdicts, beside } = passing;
    const { notes } = this.#uses;
    const keepsMap = format.client.beside.stored !== undefined;
    const taint = taintOf(guards, verdicts);
    if (bytes.length > 0) taint?.read(places.request(bytes));
    toolScreen.set(
      call,
      new Screen(passing, {
        taint,
        reroute: (guard) => reroute(entry, guard),
        learned: () => keepsMap && notes.keep(call, sealMap(secret, map.kept())),
      }),
    );
    const isRead = bytes.length > 0 && guards.length > 0;
    const guarding = isRead ? guardRequest(bytes, places, passing) : undefined;
    const edited = guarding instanceof Promise ? await guarding : guarding;
    if (map.size > 0 && keepsMap) notes.keep(call, sealMap(secret, map.kept()));
    const opening = next(edited).catch((thrown: unknown) => {
      throw restored(thrown, map, call);
    });
    if (beside.length > 0) await verdictBeside(beside, opening, call);
    const opened = await opening;
    for (const kept of notes.of(call)) map.join(openMap(secret, kept));
    const reading = guards.filter(ofStored(entry, opened));
    const guarded = { entry, edited, passing, guards: reading.filter(({ shape }) => shape) };
    const isShaped = guarded.guards.length > 0 && entry.operation === "generate";
    const shaped = isShaped ? await shapedAnswer(opened, guarded) : opened;
    const answered = reading.length === guards.length ? passing : { ...passing, guards: reading };
    return guardAnswer(shaped, places, stagesOf(answered, taint), {
      ...{ call, clock: this.#uses.clock, timeouts: this.#uses.timeouts },
    });
  }

  /** What a plugin or a part of weir asks for a call. The call restores what comes of it. */
  async #ask(all: readonly Guard[], entry: Entry, next: (edited?: Edited) => Promise<Opened>) {
    const { call } = entry;
    // What a guard asks a model is such a request, too.
    const guards = all.filter(({ asked }) => !asked);
    const screen = call.parent && toolScreen.get(call.parent);
    const asking = screen instanceof Screen ? screen : undefined;
    const secret = await this.#secret(call);
    const passing: Passing = {
      ...{ guards, map: asking?.map ?? new CallMap(secret), verdicts: new Verdicts(guards, call, secret) },
      ...{ call, registry: entry.registry, facts: factsOf(call), tools: () => [] },
      ...{ refusesUnread: this.#uses.refusesUnread, beside: [] },
    };
    const edited = await guardAsked(entry, passing);
    if (edited) asking?.learn();
    return next(edited);
  }

  /** Calls of a client format of a plugin that does not say where its texts are. @throws GatewayError if a guard may stop a value */
  async #unplaced(guards: readonly Guard[], { call, format }: Entry, next: () => Promise<Opened>) {
    const verdicts = new Verdicts(guards, call, await this.#secret(call));
    for (const guard of guards) verdicts.unread(guard, "format");
    const stops = guards.find(({ action }) => action !== "flag");
    if (stops)
      throw new GatewayError(
        "invalid-request",
        `The guard ${JSON.stringify(stops.name)} cannot read requests of the format ${format.id}: its plugin does not say where texts are. Send the request in another format.`,
        { code: "blocked_by_guard", shouldRetry: false },
      );
    const opened = await next();
    return { ...opened, headers: { ...opened.headers, "x-weir-guards": verdicts.words() } };
  }

  /** The guards of a caller, whatever the model. */
  #of(call: Call): readonly Guard[] {
    const added = addedTo(call, this.#has);
    return this.#guards.filter((guard) => guard.guards(call.principal) || added.includes(guard.name));
  }

  /** Whether some guard looks at what a caller sends. */
  inspects(principal: Principal | undefined): boolean {
    const call = new Call("", "", new Headers());
    if (principal) call.principal = principal;
    return this.#of(call).length > 0;
  }

  /** Tools that a caller calls by itself: whatever model it is for, the guards that look at tools look at its calls. */
  async screen(principal: Principal | undefined): Promise<Screen | undefined> {
    const call = new Call("", "mcp", new Headers());
    if (principal) call.principal = principal;
    const guards = this.#of(call).filter(({ readsTools }) => readsTools);
    if (guards.length === 0) return undefined;
    const secret = await this.#secret(call);
    const verdicts = new Verdicts(guards, call, secret);
    const { refusesUnread } = this.#uses;
    const map = new CallMap(secret);
    const passing: Passing = {
      ...{ guards, map, verdicts, refusesUnread, call, beside: [] },
      ...{ facts: factsOf(call), tools: () => [] },
    };
    // No model answers.
    return new Screen(passing, { reroute: async () => {} });
  }

  #for(entry: Entry): readonly Guard[] {
    const guards = this.#of(entry.call);
    // Which model has answered is known when the answer is read.
    if (entry.operation === "stored" || !guards.some(({ isOfSomeModels }) => isOfSomeModels)) return guards;
    const models = modelsOf(entry);
    return guards.filter((guard) => guard.guardsModels(models));
  }

  async #secret({ principal }: Call): Promise<Uint8Array> {
    const path = principal?.path ?? "/";
    const known = this.#secrets.get(path);
    if (known) return known;
    const secret = secretOf(await this.#uses.root(), path);
    this.#secrets.set(path, secret);
    return secret;
  }
}

/** @returns undefined: no rule holds tools back */
function taintOf(guards: readonly Guard[], verdicts: Verdicts): Taint | undefined {
  const guard = guards.find(({ flow }) => flow);
  return guard && new Taint(guard, guard.flow!, verdicts);
}

/** Whether a guard looks at the model of a stored answer that is read. Every guard looks at answers that are made. */
function ofStored(entry: Entry, opened: Opened): (guard: Guard) => boolean {
  if (entry.operation !== "stored" || opened.kind !== "json") return () => true;
  const { body } = opened;
  const answer = parseJson(typeof body === "string" ? body : Buffer.from(body).toString());
  if (!isObject(answer) || typeof answer.model !== "string") return () => true;
  const models = modelsOf(entry, answer.model);
  return (guard) => models.length === 0 || guard.guardsModels(models);
}

/** An error that repeats parts of the request, as its client may see it. The books and the log have the tokens. */
function restored(thrown: unknown, map: CallMap, call: Call): unknown {
  if (!(thrown instanceof GatewayError) || map.size === 0) return thrown;
  const message = new Tokens(map.values).restore(thrown.message);
  if (message === thrown.message) return thrown;
  call.error ??= describeError(thrown, call);
  return thrown.reworded(message);
}
