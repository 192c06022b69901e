/** Which variables name weir as its own provider: `ANTHROPIC_BASE_URL=http://127.0.0.1:9347` is meant for clients. */
import { isLoopback } from "../../core/host-names.ts";
import { runningGateways } from "../../run/run-file.ts";

type Environment = Record<string, string | undefined>;

/** Variables with the address of a provider. */
const ADDRESS = /^(\w+?)_(BASE_URL|API_BASE|HOST)$/;
const USUAL_PORT = 9347;

/**
 * The environment without addresses of weir itself, with which a gateway would ask itself or one that has ended, and without the keys that
 * belong to them.
 * @param port of the gateway; 0: not known yet
 * @returns `ignored`: the names that were left out
 */
export function withoutOwnAddress(env: Environment, port: number): { env: Environment; ignored: string[] } {
  const ports = [
    USUAL_PORT,
    port,
    Number(env["WEIR_PORT"]),
    ...runningGateways(env).map((entry) => entry.port),
  ];
  const ignored = Object.entries(env).flatMap(([name, value = ""]) => {
    const vendor = ADDRESS.exec(name)?.[1];
    if (vendor === undefined || vendor === "WEIR" || !isOn(value, ports)) return [];
    const key = `${vendor}_API_KEY`;
    return env[key] ? [name, key] : [name];
  });
  const rest = Object.entries(env).filter(([name]) => !ignored.includes(name));
  return { env: Object.fromEntries(rest), ignored: [...new Set(ignored)] };
}

function isOn(address: string, ports: readonly number[]): boolean {
  const url = URL.parse(/^https?:\/\//.test(address) ? address : `http://${address}`);
  return url !== null && isLoopback(url.hostname) && url.port !== "" && ports.includes(Number(url.port));
}
