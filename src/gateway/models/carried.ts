/** Which options of a client's requests reach a model, found out by asking the codecs. */
import type { CodecContext, CodecTarget } from "../../core/context.ts";
import { GatewayError } from "../../core/error.ts";
import type { ClientCodec, Format, UpstreamCodec } from "../../core/format.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LossCode } from "../../core/loss.ts";
import { isOwnHost, traitsAt } from "../../core/own-host.ts";
import type { ServedModel } from "../routing/registry.ts";
import { formatsOf, isFitted, traitsFor } from "../routing/spoken-formats.ts";

/** Losses after which an option has no effect, or another one. */
const LOST: ReadonlySet<LossCode> = new Set(["dropped", "downgraded"]);

export type ClientFormat = Format & { client: ClientCodec };

/** How a model is asked by clients of a format. */
interface Way {
  upstream: UpstreamCodec;
  target: CodecTarget;
  isNative: boolean;
}

export class CarriedOptions {
  readonly #formats: ReadonlyMap<string, Format>;
  /** By what decides them: a list of 2,000 models has few kinds of models. */
  readonly #known = new Map<string, readonly string[]>();
  readonly #kinds = new Map<unknown, number>();

  constructor(formats: ReadonlyMap<string, Format>) {
    this.#formats = formats;
  }

  /**
   * The names of the samples that weir carries to a model.
   * @returns undefined for a program, which decides by itself what it reads
   */
  of(
    served: ServedModel,
    client: ClientFormat,
    samples: Readonly<Record<string, JsonObject>>,
  ): readonly string[] | undefined {
    const way = this.#wayTo(served, client.id);
    if (!way) return undefined;
    const { upstream, target, isNative } = way;
    const { model, ...rest } = target;
    const key = JSON.stringify([client.id, isNative, rest, this.#kindOf(upstream, model)]);
    let names = this.#known.get(key);
    if (!names)
      this.#known.set(
        key,
        (names = Object.keys(samples).filter((name) => isCarried(samples[name]!, client.client, way))),
      );
    return names;
  }

  /** In the client's format if the provider speaks it, else in the one that the provider prefers. */
  #wayTo({ provider, model }: ServedModel, clientFormat: string): Way | undefined {
    const deployment = provider.deployments[0]!;
    const spoken = formatsOf(provider, model);
    const id = [clientFormat, deployment.prefers, spoken[0]].find((one) => one && spoken.includes(one));
    const upstream = this.#formats.get(id ?? "")?.upstream;
    if (!upstream) return undefined;
    const path = provider.speaks![id!]!;
    const target = {
      provider: provider.name,
      model: (typeof path === "string" ? undefined : path.modelFor?.(model)) ?? model,
      traits: traitsAt(traitsFor(provider, model) ?? provider.traits ?? {}, provider, deployment),
      isVendor: isOwnHost(provider, deployment),
      ...(isFitted(provider, model) && { fitsNative: true as const }),
    };
    return { upstream, target, isNative: id === clientFormat };
  }

  /** The same text for models that a codec treats alike. */
  #kindOf(upstream: UpstreamCodec, model: string): string {
    if (!upstream.address.models?.modelKind) return model;
    const kind = upstream.address.models?.modelKind(model);
    const known = this.#kinds.get(kind) ?? this.#kinds.size;
    this.#kinds.set(kind, known);
    return String(known);
  }
}

function isCarried(sample: JsonObject, client: ClientCodec, way: Way): boolean {
  const { upstream, target, isNative } = way;
  let isLost = false;
  const context: CodecContext = {
    ...{ id: "", model: target.model, headers: new Headers(), sameFormat: isNative, target },
    ...{ toolNames: new Map<string, string>(), startedAt: 0 },
    reportLoss: (code, path) => void (isLost ||= LOST.has(code) && isOf(sample, path)),
  };
  if (isNative && target.fitsNative) upstream.native.fit?.(sample, context);
  try {
    upstream.codec.encodeRequest(client.codec.decodeRequest(sample, context), context);
  } catch (thrown) {
    // What only the bytes of the client can carry: the native lane passes them.
    return !isLost && isNative && thrown instanceof GatewayError;
  }
  return !isLost;
}

/** Whether a path begins with a member of the sample: others are what the model takes beside the option. */
function isOf(sample: JsonObject, path: string): boolean {
  return Object.hasOwn(sample, /^[^.[]*/.exec(path)![0]);
}
