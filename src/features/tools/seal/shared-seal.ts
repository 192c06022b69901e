/** The key of the store in a worker, which asks the keeper for it. */
import type { Channel } from "../../../core/channel.ts";
import type { ToolsUp } from "../messages.ts";

/** How long the first request waits for the key. Milliseconds. */
const WAIT_MS = 2_000;

export class SharedSeal {
  readonly #keeper: Pick<Channel<ToolsUp, never>, "isUp" | "send">;
  readonly #came = Promise.withResolvers<void>();
  #key: string | undefined;

  constructor(keeper: Pick<Channel<ToolsUp, never>, "isUp" | "send">) {
    this.#keeper = keeper;
  }

  /** Base64url; undefined until the keeper has told it: a process without it seals with a key of its own. */
  get key(): string | undefined {
    return this.#key;
  }

  /** A keeper has begun. */
  up(): void {
    if (this.#key === undefined) this.#keeper.send({ wants: "seal" });
  }

  take(key: string): void {
    this.#key = key;
    this.#came.resolve();
  }

  /** Waits for the key, but not for ever. */
  async ready(): Promise<void> {
    if (this.#key === undefined) await Promise.race([this.#came.promise, Bun.sleep(WAIT_MS)]);
  }
}
