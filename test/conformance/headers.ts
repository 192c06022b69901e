/** The headers of a call: what a recorded client sent, and what of it an upstream must see and must not see. */
import type { Recording } from "../helpers/recordings.ts";
import type { Api } from "./policy.ts";

/** Headers of one connection or of the body's form on the wire. */
const OF_CONNECTION =
  /^(?:host|connection|content-length|content-type|transfer-encoding|accept|accept-encoding)$/;

/** A client's credential. An upstream that sees it is a fault. */
export const CLIENT_KEY = "client-canary-2b7e9051";

/** Headers of every replayed call; `serial` makes one of them unlike all others. */
export function sentHeaders(recording: Recording, serial: number): Record<string, string> {
  const recorded = Object.entries(recording.request?.headers ?? {}).filter(
    ([name]) => !OF_CONNECTION.test(name.toLowerCase()),
  );
  return {
    ...OWN[recording.api as Api](serial),
    ...Object.fromEntries(recorded),
    cookie: `session=${CLIENT_KEY}`,
    authorization: `Bearer ${CLIENT_KEY}`,
    "x-forwarded-for": "192.0.2.7",
  };
}

const OWN: Record<Api, (serial: number) => Record<string, string>> = {
  chat: (serial) => ({ "x-client-request-id": `request-${serial}`, "openai-beta": `beta-${serial}` }),
  messages: (serial) => ({
    "anthropic-version": "2026-10-21",
    "anthropic-beta": `beta-${serial},context-management-2025-06-27`,
  }),
};

/** What an upstream of the client's own format must see as it was sent. */
const PASSED: Record<Api, readonly string[]> = {
  chat: ["x-client-request-id", "openai-beta"],
  messages: ["anthropic-version", "anthropic-beta", "x-app"],
};

/** Faults of the headers that reached an upstream. */
export function headerFaults(
  call: { client: Api; upstream: Api; stream: boolean; key?: string },
  sent: Record<string, string>,
  got: Headers,
): string[] {
  const faults: string[] = [];
  const compare = (name: string, wanted: string | null) => {
    if (got.get(name) !== wanted) faults.push(`header ${name}: ${got.get(name)}, not ${wanted}`);
  };
  const isNative = call.client === call.upstream;
  for (const name of PASSED[call.client])
    compare(name, isNative ? (sent[name] ?? null) : foreign(name, call));
  if (call.upstream === "messages" && !got.has("anthropic-version"))
    faults.push("a messages upstream needs the header anthropic-version");
  compare("content-type", "application/json");
  if (call.key !== undefined)
    compare(
      call.upstream === "chat" ? "authorization" : "x-api-key",
      call.upstream === "chat" ? `Bearer ${call.key}` : call.key,
    );
  got.forEach((value, name) => {
    if (value.includes(CLIENT_KEY)) faults.push(`the client's credential is in the header ${name}`);
    if (/^(?:cookie|x-forwarded-.*|x-stainless-.*|x-weir-.*|http-referer)$/.test(name))
      faults.push(`the header ${name} passed`);
  });
  return faults;
}

/** In the translated lane headers of the client's format mean nothing; the version is the gateway's own. */
function foreign(name: string, { upstream }: { upstream: Api }): string | null {
  return name === "anthropic-version" && upstream === "messages" ? "2023-06-01" : null;
}
