/**
 * Hooks of plugins that note whether a plugin reads what an outline does not have: a text or a name of the client. What the plugin
 * decides then would be a guess.
 */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CallView } from "../../../core/call-view.ts";
import { GatewayError } from "../../../core/error.ts";
import type { Hooks } from "../../../core/plugin.ts";
import type { LoadedPlugin } from "../../../gateway/routing/registry.ts";
import type { LoadedHooks } from "../../../gateway/types.ts";
import type { KeptHeaders } from "../outline/headers.ts";
import type { Vocabulary } from "../outline/vocabulary.ts";

export class ReadHooks {
  readonly hooks: readonly LoadedHooks[];
  readonly #words: Vocabulary;
  readonly #headers: KeptHeaders;
  readonly #readers = new Set<string>();
  #isWhole = false;
  #knowsCaller = false;

  constructor(plugins: readonly LoadedPlugin[], words: Vocabulary, headers: KeptHeaders) {
    this.#words = words;
    this.#headers = headers;
    this.hooks = plugins.map(({ plugin }) => this.#watched(plugin.name, plugin.hooks ?? {}));
  }

  /** Names of the plugins that have read a text since {@link reset}. */
  get readers(): string[] {
    return this.#isWhole ? [] : [...this.#readers];
  }

  /** @param isWhole the next request has its texts @param knowsCaller who asks has its name, or nobody is known to ask */
  reset(isWhole: boolean, knowsCaller: boolean): void {
    this.#readers.clear();
    this.#isWhole = isWhole;
    this.#knowsCaller = knowsCaller;
  }

  #watched(plugin: string, hooks: Hooks): LoadedHooks {
    const { admit, intercept, request } = hooks;
    // What a hook leaves in the request is watched still when weir itself reads it.
    let running = 0;
    const seen = () => void (running > 0 && this.#readers.add(plugin));
    const viewed = (given: CallView) => (this.#isWhole ? given : this.#view(given, seen));
    const asked = (given: ChatRequest) => (this.#isWhole ? given : this.#value(given, seen));
    const watch = async <Value>(run: () => Value): Promise<Awaited<Value>> => {
      running++;
      try {
        return await run();
      } catch (thrown) {
        // A copy of what is watched fails, where it would not in a gateway.
        if (!(thrown instanceof GatewayError)) seen();
        throw thrown;
      } finally {
        running--;
      }
    };
    return {
      ...hooks,
      plugin,
      ...(admit && { admit: (view) => watch(() => admit.call(hooks, viewed(view))) }),
      ...(intercept && { intercept: (view) => watch(() => intercept.call(hooks, viewed(view))) }),
      ...(request && {
        request: (body, view) => watch(() => request.call(hooks, asked(body), viewed(view))),
      }),
    };
  }

  #view(view: CallView, seen: () => void): CallView {
    const headers = {
      get: (name: string) => (this.#header(name, seen), view.headers.get(name)),
      has: (name: string) => (this.#header(name, seen), view.headers.has(name)),
      forEach: (visit: (value: string, name: string) => void) => (seen(), view.headers.forEach(visit)),
    };
    return new Proxy(view, {
      get: (target, name) => {
        if (name === "headers") return headers;
        // The outline keeps no name of a caller. The config has those of its own keys.
        if ((name === "key" || name === "caller") && !this.#knowsCaller) seen();
        const value: unknown = Reflect.get(target, name);
        return name === "request" && value ? this.#value(value as object, seen) : value;
      },
    });
  }

  #header(name: string, seen: () => void): void {
    if (!this.#headers.has(name.toLowerCase())) seen();
  }

  #value<Value extends object>(value: Value, seen: () => void): Value {
    return new Proxy(value, {
      get: (target, name, receiver) => {
        const found: unknown = Reflect.get(target, name, receiver);
        if (typeof found === "string" && name !== "model" && !this.#words.has(found)) seen();
        return typeof found === "object" && found !== null ? this.#value(found, seen) : found;
      },
    });
  }
}
