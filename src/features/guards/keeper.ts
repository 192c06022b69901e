/** The part in the keeper: has the secret from which all tokens are derived, and watches whether guards do their work. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { GuardsDown, GuardsUp } from "./messages.ts";
import { secretOfStore } from "./tables.ts";
import { guardsPart } from "./watch/slots.ts";
import type { Tried } from "./watch/try.ts";
import type { GuardWatch, Watched } from "./watch/watch.ts";

/** A worker that does not answer in this time does not try a text. Milliseconds. */
const TRY_MS = 5_000;

export function start(host: KeeperHost): KeeperPart<GuardsUp, GuardsDown> {
  const workers = new Map<(message: GuardsDown) => void, readonly Watched[]>();
  const trials = new Trials();
  const canaries = new Canaries(host);
  let watch: GuardWatch | undefined;
  /** Its code is loaded when a config first has a guard. */
  const watching = async (): Promise<GuardWatch> => {
    const { GuardWatch } = await import("./watch/watch.ts");
    if (watch) return watch;
    const { warn, report, keyName, observe } = host;
    const made = (watch = new GuardWatch({ warn, report, keyName }));
    observe({ records: ({ calls }) => made.records(calls), state: () => made.tick(Date.now()) });
    return made;
  };
  const take = (guards: readonly Watched[]) => {
    if (watch || guards.length > 0)
      watching().then(
        (made) => (made.guards = guards),
        (cause: unknown) => host.report(`guards are not watched: ${String(cause)}`),
      );
  };
  guardsPart.set(host.offers, {
    guards: () => [...workers.values()].at(-1),
    tryText: (text) => trials.ask([...workers.keys()].at(-1), text),
  });
  return {
    connect(send) {
      workers.set(send, []);
      return {
        receive(message) {
          if ("guards" in message) {
            workers.set(send, message.guards);
            take(message.guards);
          } else if ("out" in message) canaries.report(message.out, message.held);
          else if ("tried" in message) trials.answered(message.tried, message.result);
          else
            secretOfStore(host).then(
              (secret) => send({ secret }),
              (cause: unknown) => send({ fault: String(cause) }),
            );
        },
        ended: () => void workers.delete(send),
      };
    },
  };
}

/** Guards through which a value of a canary got out. */
class Canaries {
  readonly #host: Pick<KeeperHost, "warn" | "report">;
  readonly #out = new Set<string>();

  constructor(host: Pick<KeeperHost, "warn" | "report">) {
    this.#host = host;
  }

  report(out: Readonly<Record<string, string>>, held: readonly string[]): void {
    const { warn, report } = this.#host;
    const of = (subject: string) => ({
      event: "guard",
      condition: "canary",
      subject,
      facts: { guard: subject },
    });
    for (const [name, message] of Object.entries(out)) {
      warn({ ...of(name), isOver: false, message });
      if (!this.#out.has(name)) report(message);
      this.#out.add(name);
    }
    for (const name of held)
      if (this.#out.delete(name))
        warn({ ...of(name), isOver: true, message: `the guard "${name}" holds planted values again` });
  }
}

/** Texts that workers try. */
class Trials {
  readonly #open = new Map<number, (tried: Tried | undefined) => void>();
  #last = 0;

  /** @param send to a worker */
  async ask(send: ((message: GuardsDown) => void) | undefined, text: string): Promise<Tried | undefined> {
    if (!send) return undefined;
    const id = ++this.#last;
    const { promise, resolve } = Promise.withResolvers<Tried | undefined>();
    this.#open.set(id, resolve);
    const timer = setTimeout(() => resolve(undefined), TRY_MS);
    send({ try: id, text });
    return promise.finally(() => {
      clearTimeout(timer);
      this.#open.delete(id);
    });
  }

  answered(id: number, tried: Tried | undefined): void {
    this.#open.get(id)?.(tried);
  }
}
