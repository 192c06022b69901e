/**
 * Hooks of plugins that note whether a plugin reads what an outline does not have: a text or a name of the client. What the plugin
 * decides then would be a guess.
 */
import type { CallView } from "../../../core/call-view.ts";
import { GatewayError } from "../../../core/error.ts";
import type { Hooks, Plugin } from "../../../core/plugin.ts";
import type { Envelope, Provider } from "../../../core/provider.ts";
import type { LoadedPlugin } from "../../../gateway/routing/registry.ts";
import type { LoadedHooks } from "../../../gateway/types.ts";
import type { KeptHeaders } from "../outline/headers.ts";
import type { Vocabulary } from "../outline/vocabulary.ts";

export class ReadHooks {
  #words: Vocabulary | undefined;
  #headers: KeptHeaders | undefined;
  readonly #readers = new Set<string>();
  #isWhole = false;
  #knowsCaller = false;

  /** The hooks of plugins. @param words and headers that outlines keep */
  hooksOf(plugins: readonly LoadedPlugin[], words: Vocabulary, headers: KeptHeaders): readonly LoadedHooks[] {
    this.#words = words;
    this.#headers = headers;
    return plugins.map(({ plugin }) => this.#watched(plugin.name, plugin.hooks ?? {}));
  }

  /** A plugin whose providers are watched as well: their functions see the body and the call. */
  readonly plugin = (plugin: Plugin): Plugin => {
    const { providers } = plugin;
    return providers
      ? { ...plugin, providers: providers.map((one) => this.#provider(plugin.name, one)) }
      : plugin;
  };

  #provider(plugin: string, provider: Provider): Provider {
    const { patch, envelope } = provider;
    return {
      ...provider,
      ...(patch && {
        patch: (body, view) =>
          this.#running(plugin, (seen) =>
            patch.call(provider, this.#asked(body, seen), this.#viewed(view, seen)),
          ),
      }),
      ...(envelope && {
        envelope: Object.fromEntries(
          Object.entries(envelope).map(([format, one]) => [format, this.#envelope(plugin, one)]),
        ),
      }),
    };
  }

  #envelope(plugin: string, envelope: Envelope): Envelope {
    const { defaults, with: added } = envelope;
    return {
      ...envelope,
      ...(defaults && {
        defaults: (view) =>
          this.#running(plugin, (seen) => defaults.call(envelope, this.#viewed(view, seen))),
      }),
      ...(added && {
        with: (view, stream) =>
          this.#running(plugin, (seen) => added.call(envelope, this.#viewed(view, seen), stream)),
      }),
    };
  }

  /** What is left in the request is watched still when weir itself reads it: only what is read meanwhile counts. */
  #running<Value>(plugin: string, run: (seen: () => void) => Value): Value {
    let isRunning = true;
    const seen = () => void (isRunning && this.#readers.add(plugin));
    const ended = (value: Value) => {
      isRunning = false;
      return value;
    };
    const failed = (thrown: unknown): never => {
      // A copy of what is watched fails, where it would not in a gateway.
      if (!(thrown instanceof GatewayError)) seen();
      isRunning = false;
      throw thrown;
    };
    try {
      const value = run(seen);
      return value instanceof Promise ? (value.then(ended, failed) as Value) : ended(value);
    } catch (thrown) {
      return failed(thrown);
    }
  }

  #viewed(view: CallView, seen: () => void): CallView {
    return this.#isWhole ? view : this.#view(view, seen);
  }

  #asked<Value extends object>(value: Value, seen: () => void): Value {
    return this.#isWhole ? value : this.#value(value, seen);
  }

  /** Names of the plugins that have read a text since {@link reset}. */
  get readers(): string[] {
    return this.#isWhole ? [] : [...this.#readers];
  }

  /** @param isWhole the next request has its texts @param knowsCaller who asks has its name, or no key is known */
  reset(isWhole: boolean, knowsCaller: boolean): void {
    this.#readers.clear();
    this.#isWhole = isWhole;
    this.#knowsCaller = knowsCaller;
  }

  #watched(plugin: string, hooks: Hooks): LoadedHooks {
    const { admit, intercept, request } = hooks;
    const watch = <Value>(run: (seen: () => void) => Value) => this.#running(plugin, run);
    return {
      ...hooks,
      plugin,
      ...(admit && { admit: (view) => watch((seen) => admit.call(hooks, this.#viewed(view, seen))) }),
      ...(intercept && {
        intercept: (view) => watch((seen) => intercept.call(hooks, this.#viewed(view, seen))),
      }),
      ...(request && {
        request: (body, view) =>
          watch((seen) => request.call(hooks, this.#asked(body, seen), this.#viewed(view, seen))),
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
    if (!this.#headers!.has(name.toLowerCase())) seen();
  }

  #value<Value extends object>(value: Value, seen: () => void): Value {
    return new Proxy(value, {
      get: (target, name, receiver) => {
        const found: unknown = Reflect.get(target, name, receiver);
        if (typeof found === "string" && name !== "model" && !this.#words!.has(found)) seen();
        return typeof found === "object" && found !== null ? this.#value(found, seen) : found;
      },
    });
  }
}
