/** Puts the certificate that weir makes itself into the config that asks for it. */
import type { Environment } from "../../config/substitute.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { stateHome } from "../../run/home.ts";

/** How often a running gateway looks whether its certificate must be renewed. Milliseconds. */
const LOOK_MS = 12 * 3_600_000;

/** The same config where it has no `tls.issuer`. @throws Error with one sentence if the files cannot be kept */
export async function withOwnCertificate(loaded: LoadedConfig, env: Environment): Promise<LoadedConfig> {
  const { config } = loaded;
  const { issuer } = config.tls;
  if (issuer === undefined) return loaded;
  const { namesOf, ownCertificate } = await import("./own-certificate.ts");
  const files = await ownCertificate(stateHome(config, env), namesOf(config));
  return { ...loaded, config: Object.freeze({ ...config, tls: Object.freeze({ issuer, ...files }) }) };
}

/** Reloads a gateway each half day, so that its own certificate is renewed in time. Does nothing for other certificates. */
export function renewInTime(
  { tls }: Config,
  reload: () => Promise<void>,
  fault: (text: string) => void,
): void {
  if (tls.issuer === undefined) return;
  const look = () =>
    reload().catch((cause: unknown) => fault(`the certificate is not renewed: ${String(cause)}`));
  setInterval(() => void look(), LOOK_MS).unref();
}
