/**
 * Compares what weir would send with what the source gateway sends: a leaf is taken over only if the request is the same.
 */
import type { Expectation } from "./draft.ts";
import { usualAddress } from "./hosts.ts";
import type { Imported } from "./convert.ts";
import type { SettingOutcome } from "./source.ts";

/** A request that weir would send. */
export interface Sent {
  model: string;
  url: string;
  /** With the credential; absent where a plugin signs the request. */
  headers?: Readonly<Record<string, string>>;
}

/** The gateway that the written file makes. */
export interface MadeGateway {
  /** Providers that are off, and what would switch them on. */
  off: readonly { name: string; reason: string }[];
  /**
   * The request that it would send for a name that a client asks for.
   * @param does a kind of models. Default: text
   * @throws Error if no provider serves the name
   */
  sending(name: string, format: string, does?: string): readonly Sent[];
}

type Verdict = Pick<SettingOutcome, "fate" | "why">;

/**
 * @param fill puts the values of variables into a text of the file
 * @returns the same import, where each leaf whose request is another one is `changed`, or `none` if weir does not send it
 */
export function verify(imported: Imported, gateway: MadeGateway, fill: (text: string) => string): Imported {
  const off = gateway.off.filter(({ name }) => imported.providers.includes(name));
  const verdicts = new Map<string, Verdict>();
  for (const expected of imported.expected) {
    const isOff = off.some(({ name }) => name === expected.connection.provider);
    const verdict = isOff ? undefined : verdictOn(expected, gateway, fill);
    for (const path of verdict ? expected.from : []) if (!verdicts.has(path)) verdicts.set(path, verdict!);
  }
  if (verdicts.size + off.length === 0) return imported;
  const outcomes = imported.outcomes.map((outcome) => {
    const verdict = outcome.fate === "taken" ? verdicts.get(outcome.path) : undefined;
    return verdict ? { ...outcome, ...verdict } : outcome;
  });
  return imported.with(
    outcomes,
    off.map(({ name, reason }) => `${name} stays off until you ${reason}`),
  );
}

function verdictOn(
  { name, model, asked, does, connection }: Expectation,
  gateway: MadeGateway,
  fill: (text: string) => string,
): Verdict | undefined {
  if (!asked) {
    const sent = sendingOf(gateway, name, "", does);
    return typeof sent === "string"
      ? { fate: "none", why: `weir does not serve ${name} (${sent})` }
      : undefined;
  }
  const wanted = fill(asked.url).replace("{model}", model);
  const sent = sendingOf(gateway, name, asked.format);
  if (typeof sent === "string") return { fate: "none", why: `weir does not serve ${name} (${sent})` };
  const ofModel = sent.filter((one) => one.model === model);
  if (ofModel.length === 0)
    return { fate: "none", why: `weir would ask for ${sent.map((one) => one.model).join(", ")} instead` };
  const atUrl = ofModel.filter(({ url }) => plainUrl(url) === plainUrl(wanted));
  if (atUrl.some(({ headers }) => hasHeaders(headers, connection, fill))) return undefined;
  if (atUrl.length > 0) return { fate: "changed", why: "weir sends another key, or other headers" };
  return { fate: "changed", why: `weir asks ${ofModel[0]!.url} instead of ${wanted}` };
}

/** A URL without percent-encoding, where that is valid, and with the vendor's usual address. */
function plainUrl(url: string): string {
  try {
    return usualAddress(decodeURIComponent(url));
  } catch {
    return usualAddress(url);
  }
}

/** Whether the key and the headers of a connection are in a request. */
function hasHeaders(
  sent: Sent["headers"],
  { settings: { apiKey, headers = {} } }: Expectation["connection"],
  fill: (text: string) => string,
): boolean {
  if (sent === undefined) return true;
  const values = Object.values(sent);
  const isKeySent = apiKey === undefined || values.some((value) => value.endsWith(fill(apiKey)));
  return isKeySent && Object.values(headers).every((value) => values.includes(fill(value)));
}

function sendingOf(
  gateway: MadeGateway,
  name: string,
  format: string,
  does?: string,
): readonly Sent[] | string {
  try {
    return gateway.sending(name, format, does);
  } catch (fault) {
    return (fault instanceof Error ? fault.message : String(fault)).replace(/\.$/, "");
  }
}

/** A text of the file with the values of its variables, or their defaults. */
export function fillIn(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(
    /\$(\$\{)|\$\{(\w+)(?::-([^}]*))?\}/g,
    (whole, escaped?: string, name?: string, otherwise?: string) =>
      escaped ?? (env[name ?? ""] || (otherwise ?? whole)),
  );
}
