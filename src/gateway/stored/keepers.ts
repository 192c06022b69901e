/** The deployments that store answers themselves. */
import { traitsAt } from "../../core/own-host.ts";
import type { Deployment, Target } from "../../core/provider.ts";
import { urlsOf } from "../routing/endpoint.ts";
import type { Registry } from "../routing/registry.ts";

type Providers = Pick<Registry, "providers">;

/** A deployment by its name, in one format and without a model; `undefined` if it is gone or does not speak the format. */
export function keeperNamed(name: string, { providers }: Providers, format: string): Target | undefined {
  for (const provider of providers) {
    const deployment = provider.deployments.find((entry) => entry.name === name);
    if (!deployment || !provider.speaks?.[format]) continue;
    const urls = urlsOf(provider, deployment, format, "");
    return {
      provider,
      deployment,
      model: "",
      lane: "native",
      format,
      reason: "the answer is stored there",
      ...urls,
    };
  }
  return undefined;
}

/** Name of the only deployment that stores answers of a format; `undefined` if there are none or several. */
export function soleKeeper({ providers }: Providers, format: string): string | undefined {
  const keepers: Deployment[] = providers.flatMap((provider) =>
    provider.speaks?.[format]
      ? provider.deployments.filter(
          (deployment) => traitsAt(provider.traits ?? {}, provider, deployment).storesAnswers,
        )
      : [],
  );
  return keepers.length === 1 ? keepers[0]!.name : undefined;
}
