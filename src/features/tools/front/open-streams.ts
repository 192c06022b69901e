/** Streams that stay open without a call: they end when their caller may no longer have them, or may use less. */
import { GatewayError } from "../../../core/error.ts";
import type { Caller } from "../asks.ts";

/** How often each is looked at. Milliseconds. */
const EVERY_MS = 250;

interface Open {
  readonly caller: Caller;
  /** @returns who asks, as of now @throws GatewayError */
  readonly look: () => Promise<Caller>;
  readonly end: (reason: GatewayError) => void;
  isLooking: boolean;
}

export class OpenStreams {
  readonly #all = new Set<Open>();
  readonly #isServer: (name: string) => boolean;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param isServer whether the config has a server of that name now */
  constructor(isServer: (name: string) => boolean) {
    this.#isServer = isServer;
  }

  /** @returns call this when the stream has ended */
  add(stream: Omit<Open, "isLooking">): () => void {
    const open = { ...stream, isLooking: false };
    this.#all.add(open);
    this.#timer ??= setInterval(() => this.look(), EVERY_MS);
    this.#timer.unref();
    return () => this.#remove(open);
  }

  #remove(open: Open): void {
    this.#all.delete(open);
    if (this.#all.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** What callers may use may have changed. */
  look(): void {
    for (const open of this.#all) if (!open.isLooking) void this.#check(open);
  }

  async #check(open: Open): Promise<void> {
    open.isLooking = true;
    const reason = await open.look().then(
      (now) => (this.#mayStill(open.caller, now) ? undefined : changed()),
      (thrown: unknown) => refusal(thrown),
    );
    open.isLooking = false;
    if (!reason || !this.#all.has(open)) return;
    this.#remove(open);
    open.end(reason);
  }

  /** Whether nothing was taken from the caller but servers that exist no more. */
  #mayStill(before: Caller, now: Caller): boolean {
    if (before === now) return true;
    const rest = before.servers.filter(this.#isServer);
    const rules = ({ id, tools, pin }: Caller) => JSON.stringify([id, tools, pin]);
    return rest.every((name) => now.servers.includes(name)) && rules(before) === rules(now);
  }
}

/** What can be checked later is no refusal. */
function refusal(thrown: unknown): GatewayError | undefined {
  const isRefused =
    thrown instanceof GatewayError && (thrown.kind === "authentication" || thrown.kind === "permission");
  return isRefused ? thrown : undefined;
}

function changed(): GatewayError {
  return new GatewayError("permission", "What the caller may use has changed; listen again.", {
    code: "access_changed",
  });
}
