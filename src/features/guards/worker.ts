/** The part of guards in each process that serves calls. Its code is loaded when a config first has a guard. */
import { timeouts } from "../../config/sections/requests.ts";
import type { Channel } from "../../core/channel.ts";
import { GatewayError } from "../../core/error.ts";
import { inspectsCaller } from "../../core/inspected.ts";
import type { Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import type { GuardsDown, GuardsUp } from "./messages.ts";
import type { Asked } from "./ask/asked.ts";
import type { AskHost } from "./ask/make.ts";
import { ASKED } from "./ask/section.ts";
import { guardCanaries } from "./metrics.ts";
import { PLACES } from "./declarations.ts";
import { asks, canaryOf, flowOf, guardsOf, type NamedGuard, secretIn, uninspectedOf } from "./section.ts";
import type { Registry } from "./watch/canary.ts";
import type { Tried } from "./watch/try.ts";
import type { Watched } from "./watch/watch.ts";

export function start({ channel, fault, answerNotes, meter, work, clock, offers }: WorkerHost): WorkerPart {
  let keeper: Keeper | undefined;
  let tryText: (text: string) => Promise<Tried> = async (text) => ({ guards: [], text });
  let loaded: typeof import("./verdicts.ts") | undefined;
  const canaries = new Canaries({ meter, fault, keeper: () => keeper });
  return {
    async seams(config): Promise<Seams | undefined> {
      const options = guardsOf(config);
      const flow = flowOf(config);
      const written = secretIn(config);
      if (options.length === 0 && !flow) {
        inspectsCaller.set(offers, () => false);
        return undefined;
      }
      const [{ Guards }, { Guard }] = await Promise.all([import("./around.ts"), import("./guard.ts")]);
      loaded ??= await import("./verdicts.ts");
      const known = (keeper ??= new Keeper(channel<GuardsUp, GuardsDown>(), fault, (text) => tryText(text)));
      const own = await Promise.all(
        options.map(async (one) => new Guard(one, await askedOf(one, { fault, work }))),
      );
      const guards = new Guards(flow ? [...own, new Guard({ ...flow, ...FLOW }, undefined, flow)] : own, {
        root: () => written ?? known.secret(),
        notes: answerNotes,
        refusesUnread: uninspectedOf(config) === "block",
        clock,
        timeouts: timeouts.of(config),
      });
      tryText = (text) => guards.tryText(text);
      inspectsCaller.set(offers, (principal) => guards.inspects(principal));
      return {
        around: {
          at: "guard",
          run(entry, next) {
            canaries.registry = entry.registry;
            return guards.run(entry, next);
          },
        },
        screenTools: (principal) => guards.screen(principal),
        foresee: guards.foresee,
      };
    },
    serves(config) {
      keeper?.watch(guardsOf(config).map(watchedOf));
      canaries.every(canaryOf(config), guardsOf(config));
    },
    stop: () => canaries.every(undefined, []),
    recorder() {
      // Calls that began before a reload may have verdicts, too.
      const settle = loaded?.Verdicts.settle;
      return settle && ((call) => settle(call, meter));
    },
  };
}

/** What the keeper learns of a guard. */
function watchedOf(guard: NamedGuard): Watched {
  const { name, do: action = "block", find = [], on = PLACES, keys, models, unless } = guard;
  return {
    name,
    does: typeof action === "string" ? action : `route: ${action.route}`,
    finds: [
      ...find.map((one) => (typeof one === "string" ? one : "pattern" in one ? one.name : "webhook")),
      ...ASKED.filter((one) => guard[one] !== undefined),
    ],
    judgesAll: on.includes("input") || on.includes("output"),
    ...(keys && { keys }),
    ...(models && { models }),
    ...(unless && { unless }),
  };
}
/** The rule is the last guard. */
const FLOW = { name: "flow", do: "block" as const, on: "output" as const } satisfies NamedGuard;

/** @returns undefined: the guard asks nothing, and its code is not loaded */
async function askedOf(guard: NamedGuard, host: AskHost): Promise<Asked | undefined> {
  return asks(guard) ? (await import("./ask/make.ts")).askedOf(guard, host) : undefined;
}

/** Sends values of weir's own through the guards. Their code is loaded with the first one. */
class Canaries {
  readonly #uses: Pick<WorkerHost, "meter" | "fault"> & { keeper(): Keeper | undefined };
  /** What requests are read with: known with the first call. */
  registry: Registry | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Each has another value. */
  #flown = Math.floor(Math.random() * 1_000_000);

  constructor(uses: Pick<WorkerHost, "meter" | "fault"> & { keeper(): Keeper | undefined }) {
    this.#uses = uses;
  }

  /** @param ms undefined: never */
  every(ms: number | undefined, guards: readonly NamedGuard[]): void {
    clearInterval(this.#timer);
    if (ms === undefined || guards.length === 0) return;
    const failed = (cause: unknown) => this.#uses.fault(`guards.canary: ${String(cause)}`);
    this.#timer = setInterval(() => void this.#fly(guards).catch(failed), ms);
    this.#timer.unref();
  }

  async #fly(guards: readonly NamedGuard[]): Promise<void> {
    const { registry } = this;
    const keeper = this.#uses.keeper();
    if (!registry || !keeper) return;
    const { fly } = await import("./watch/canary.ts");
    const out: Record<string, string> = {};
    const held = new Set<string>();
    for (const one of await fly(guards, registry, () => keeper.secret(), ++this.#flown)) {
      this.#uses.meter.add(guardCanaries, [one.guard, one.out ? "out" : "held"]);
      if (one.out)
        out[one.guard] ??=
          `a value of the kind ${one.kind} that weir planted went past the guard "${one.guard}" to the ${one.out} (${one.format})`;
      else held.add(one.guard);
    }
    keeper.tell({ out, held: [...held].filter((name) => !(name in out)) });
  }
}

const WAIT_MS = 10_000;
const AGAIN_MS = 100;

/** The part in the keeper. It has no secret while it opens the store. */
class Keeper {
  readonly #channel: Channel<GuardsUp, GuardsDown>;
  readonly #report: (sentence: string) => void;
  #secret: Uint8Array | undefined;
  #fault = "the keeper does not answer";
  #watched: readonly Watched[] = [];

  /** @param report logs a sentence @param tryText what the guards make of a text */
  constructor(
    channel: Channel<GuardsUp, GuardsDown>,
    report: (sentence: string) => void,
    tryText: (text: string) => Promise<Tried>,
  ) {
    this.#channel = channel;
    this.#report = report;
    channel.listen({
      up: () => {
        this.#ask();
        this.watch(this.#watched);
      },
      down: () => {},
      message: (message) => {
        if ("secret" in message) this.#secret = Buffer.from(message.secret, "base64url");
        else if ("fault" in message) this.#fault = message.fault;
        else {
          const tried = message.try;
          tryText(message.text).then(
            (result) => channel.send({ tried, result }),
            () => channel.send({ tried }),
          );
        }
      },
    });
  }

  /** Has the keeper watch the guards of the config. */
  watch(guards: readonly Watched[]): void {
    this.#watched = guards;
    if (this.#channel.isUp) this.#channel.send({ guards });
  }

  tell(message: GuardsUp): void {
    if (this.#channel.isUp) this.#channel.send(message);
  }

  /** The secret of the store. @throws GatewayError if the keeper does not have it within some seconds */
  secret(): Uint8Array | Promise<Uint8Array> {
    return this.#secret ?? this.#wait();
  }

  async #wait(): Promise<Uint8Array> {
    for (const until = performance.now() + WAIT_MS; performance.now() < until;) {
      this.#ask();
      await Bun.sleep(AGAIN_MS);
      if (this.#secret) return this.#secret;
    }
    this.#report(`guards: the secret of the store cannot be read: ${this.#fault}`);
    throw new GatewayError("overloaded", "The guards of weir are not ready yet. Repeat the request.", {
      code: "guard_unavailable",
      retryAfter: 5,
    });
  }

  #ask(): void {
    if (this.#channel.isUp && !this.#secret) this.#channel.send({ wants: "secret" });
  }
}
